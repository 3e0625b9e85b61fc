#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.h"
#include "tests/golden.h"
#include "vit/weights/safetensors.h"

namespace vitascope::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(InfoCommand, DescribesEveryGoldenModel) {
  for (const char* name :
       {"hf-vit", "hf-vit-v4keys", "hf-vit-v5keys", "hf-vit-bf16", "hf-vit-fp16", "hf-vit-sharded",
        "hf-deit-distilled", "hf-dinov2", "hf-dinov2-reg-swiglu", "timm-vit", "timm-vit-gap",
        "timm-vit-gap-cls", "timm-deit3-pth/model.pth", "augreg-npz"}) {
    const std::string model = golden(std::string("models/") + name);
    const Finished text = run_program({"info", "--model", model});
    EXPECT_EQ(text.status, 0) << name << text.err;
    EXPECT_THAT(text.out, HasSubstr("2 blocks, width 48")) << name;
    const Finished object = run_program({"info", "--model", model, "--format", "json"});
    ASSERT_EQ(object.status, 0) << name << object.err;
    EXPECT_GT(json::parse(object.out)["parameters"], 0) << name;
  }
}

TEST(InfoCommand, CountsTheParametersOfTheFile) {
  std::int64_t elements = 0;
  for (const auto& [name, tensor] :
       weights::read_safetensors(golden("models/hf-vit/model.safetensors")).tensors) {
    elements += weights::element_count(tensor.shape);
  }
  const Finished object =
      run_program({"info", "--model", golden("models/hf-vit"), "--format", "json"});
  EXPECT_EQ(json::parse(object.out)["parameters"], elements);
}

TEST(InfoCommand, SaysHowWeightsAreStored) {
  const auto stored = [](const std::string& model) {
    return json::parse(
        run_program({"info", "--model", golden("models/" + model), "--format", "json"}).out);
  };
  EXPECT_EQ(stored("hf-vit-bf16")["stored_dtype"], "BF16");
  EXPECT_EQ(stored("hf-vit-fp16")["stored_dtype"], "F16");
  EXPECT_EQ(stored("hf-vit-v5keys")["key_style"], "transformers 5");
  EXPECT_EQ(stored("timm-vit")["key_style"], "timm");
  EXPECT_EQ(stored("hf-vit-sharded")["files"].size(), stored("hf-vit")["files"].size() + 1);
}

TEST(InfoCommand, AloneDescribesTheMachine) {
  const Finished text = run_program({"info"});
  EXPECT_EQ(text.status, 0);
  for (const char* word : {"vitascope", "LibTorch", "CPU", "attention", "cores", "device"}) {
    EXPECT_THAT(text.out, HasSubstr(word));
  }
  const json object = json::parse(run_program({"info", "--format", "json"}).out);
  EXPECT_EQ(object["devices"][0], "cpu");
  // Either a GPU answers, or the reason is said.
  EXPECT_EQ(object["devices"].size() == 1, object["cuda_unavailable"].is_string());
}

TEST(InfoCommand, EndsWithOneLineWhereThereIsNoModel) {
  const Finished finished = run_program({"info", "--model", golden("images")});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.out, "");
  expect_one_error(finished, {"images"});
}

}  // namespace
}  // namespace vitascope::tests
