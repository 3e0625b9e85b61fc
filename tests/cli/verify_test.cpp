#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.h"
#include "tests/golden.h"

namespace vitascope::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Finished verify(const std::string& model, const std::string& reference,
                std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"verify", "--model", golden("models/" + model), "--reference",
                                     golden(reference)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

TEST(VerifyCommand, PassesEveryPythonBackEnd) {
  const std::pair<const char*, const char*> references[] = {
      {"hf-vit", "transformers-pil"}, {"hf-vit", "transformers-torchvision"}, {"timm-vit", "timm"}};
  for (const auto& [model, file] : references) {
    for (const char* attention : {"sdpa", "math"}) {
      const Finished finished = verify(model, std::string("reference/") + file + ".safetensors",
                                       {"--attention", attention});
      EXPECT_EQ(finished.status, 0) << file << finished.out << finished.err;
      EXPECT_THAT(finished.out, HasSubstr("\nPASS\n"));
    }
  }
}

TEST(VerifyCommand, FailsAgainstAnotherModelsOutputs) {
  // Half-precision weights are not the weights that the reference was made with.
  const Finished finished =
      verify("hf-vit-bf16", "models/hf-vit/expected.safetensors", {"--format", "json"});
  EXPECT_EQ(finished.status, 1) << finished.err;
  EXPECT_EQ(json::parse(finished.out)["passed"], false);
  EXPECT_EQ(json::parse(finished.out)["first_parting"], "hidden_states.0");
  EXPECT_EQ(verify("hf-vit-bf16", "models/hf-vit-bf16/expected.safetensors").status, 0);
}

TEST(VerifyCommand, RunsInBfloat16WithItsOwnTolerance) {
  const Finished finished = verify("hf-vit", "models/hf-vit/expected.safetensors",
                                   {"--precision", "bf16", "--format", "json"});
  EXPECT_EQ(finished.status, 0) << finished.out;
  EXPECT_EQ(json::parse(finished.out)["tolerance"], 0.05);
  EXPECT_EQ(verify("hf-vit", "models/hf-vit/expected.safetensors",
                   {"--precision", "bf16", "--tolerance", "1e-5"})
                .status,
            1);
}

TEST(VerifyCommand, AnswersMistakesInOneLine) {
  const Finished missing = run_program({"verify", "--model", golden("models/hf-vit")});
  EXPECT_EQ(missing.status, 2);
  expect_one_error(missing, {"--reference"});
  const Finished no_reference = verify("hf-vit", "models/hf-vit/model.safetensors");
  EXPECT_EQ(no_reference.status, 2);
  expect_one_error(no_reference, {"model.safetensors", "pixel_values", "README"});
  const Finished gone = verify("hf-vit", "reference/gone.safetensors");
  EXPECT_EQ(gone.status, 2);
  expect_one_error(gone, {"gone.safetensors"});
  const Finished count =
      verify("hf-vit", "models/hf-vit/expected.safetensors", {"--image", golden("images/rgb.png")});
  EXPECT_EQ(count.status, 2);
  expect_one_error(count, {"2 photos", "--image names 1"});
}

}  // namespace
}  // namespace vitascope::tests
