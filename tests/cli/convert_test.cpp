#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/golden_logits.h"
#include "tests/cli/run_program.h"

namespace vitascope::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(ConvertCommand, WritesAModelThatVerifiesAgainstPython) {
  const std::tuple<const char*, const char*, const char*> conversions[] = {
      {"hf-vit-v5keys", "transformers", "hf-vit"},
      {"hf-vit", "timm", "hf-vit"},
      {"augreg-npz", "timm", "augreg-npz"},
      {"augreg-npz", "transformers", "augreg-npz"},
      {"timm-deit3-pth/checkpoint-7.pth", "timm", "timm-deit3-pth"},
      {"hf-dinov2-reg-swiglu", "transformers", "hf-dinov2-reg-swiglu"}};
  for (const auto& [model, layout, expected] : conversions) {
    const TemporaryFolder folder;
    const Finished finished =
        run_program({"convert", "--model", golden(std::string("models/") + model), "--layout",
                     layout, "--output", folder / "out"});
    ASSERT_EQ(finished.status, 0) << model << finished.err;
    EXPECT_THAT(finished.out, HasSubstr(folder / "out")) << model;
    const Finished verified = run_program(
        {"verify", "--model", folder / "out", "--reference",
         golden(std::string("models/") + expected + "/expected.safetensors"), "--format", "json"});
    EXPECT_EQ(verified.status, 0) << model << layout << verified.out << verified.err;
  }
}

TEST(ConvertCommand, KeepsLabelsAndTheImageSpecification) {
  const TemporaryFolder folder;
  for (const char* layout : {"transformers", "timm"}) {
    const std::string output = folder / layout;
    ASSERT_EQ(run_program({"convert", "--model", golden("models/hf-vit"), "--layout", layout,
                           "--output", output})
                  .status,
              0);
    const auto info = [](const std::string& model) {
      return json::parse(run_program({"info", "--model", model, "--format", "json"}).out);
    };
    const json before = info(golden("models/hf-vit")), after = info(output);
    EXPECT_EQ(after["labels"], before["labels"]) << layout;
    EXPECT_EQ(after["specification"]["mean"], before["specification"]["mean"]) << layout;
    EXPECT_EQ(after["input_height"], before["input_height"]) << layout;
  }
}

TEST(ConvertCommand, AnswersMistakesInOneLine) {
  const TemporaryFolder folder;
  const std::string model = golden("models/hf-vit");
  const Finished no_output = run_program({"convert", "--model", model});
  EXPECT_EQ(no_output.status, 2);
  expect_one_error(no_output, {"--output"});
  folder.write("full/config.json", "{}");
  const Finished exists = run_program({"convert", "--model", model, "--output", folder / "full"});
  EXPECT_EQ(exists.status, 2);
  expect_one_error(exists, {"full", "--force"});
  EXPECT_EQ(file_text(folder / "full/config.json"), "{}");
  const Finished layout =
      run_program({"convert", "--model", model, "--output", folder / "new", "--layout", "keras"});
  EXPECT_EQ(layout.status, 2);
  expect_one_error(layout, {"--layout", "'keras'"});
}

}  // namespace
}  // namespace vitascope::tests
