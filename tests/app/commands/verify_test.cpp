#include "app/commands/verify.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/app/commands/run_command.h"
#include "tests/app/reference_file.h"
#include "tests/golden.h"
#include "vit/error.h"

namespace vitascope::app {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using tests::golden;
using tests::run_command;

tests::CommandResult verify(const std::string& model, const std::string& reference,
                            std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"--model", golden("models/" + model), "--reference",
                                     reference};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_command(declare_verify, arguments);
}

json verify_json(const std::string& model, const std::string& reference,
                 std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--format", "json"});
  return json::parse(verify(model, reference, more).out);
}

TEST(Verify, PassesTheReferenceOfEveryPythonBackEnd) {
  const std::pair<const char*, const char*> references[] = {
      {"hf-vit", "transformers-pil"}, {"hf-vit", "transformers-torchvision"}, {"timm-vit", "timm"}};
  for (const auto& [model, file] : references) {
    const auto result = verify(model, golden(std::string("reference/") + file + ".safetensors"));
    EXPECT_EQ(result.status, 0) << file << "\n" << result.out;
    EXPECT_THAT(result.out, HasSubstr("PASS")) << file;
    EXPECT_THAT(result.out, HasSubstr("rgb_plain.jpg")) << file;
  }
}

TEST(Verify, SaysWhichBackEndMadeThePixels) {
  EXPECT_THAT(verify("hf-vit", golden("reference/transformers-pil.safetensors")).out,
              HasSubstr("identical"));
  EXPECT_THAT(verify("timm-vit", golden("reference/timm.safetensors")).out, HasSubstr("identical"));
  const json torchvision =
      verify_json("hf-vit", golden("reference/transformers-torchvision.safetensors"));
  EXPECT_EQ(torchvision["pictures"][0]["causes"][0]["name"], "torchvision");
  EXPECT_EQ(torchvision["pictures"][0]["passed"], true);
}

TEST(Verify, FailsWithTheFirstLayerThatParts) {
  tests::Tensors tensors = tests::read_tensors(golden("models/hf-vit/expected.safetensors"));
  for (const char* later : {"hidden_states.1", "attentions.1", "hidden_states.2", "logits"}) {
    tensors[later] = tensors[later] + 0.01;
  }
  const std::string path = tests::write_tensors("r.safetensors", tensors);
  const auto text = verify("hf-vit", path);
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.out, HasSubstr("first parts at hidden_states.1: look at block 0"));
  EXPECT_THAT(text.out, HasSubstr("FAIL"));
  const json object = verify_json("hf-vit", path);
  EXPECT_EQ(object["passed"], false);
  EXPECT_EQ(object["first_parting"], "hidden_states.1");
  EXPECT_EQ(object["comparisons"][0]["name"], "hidden_states.0");
  EXPECT_EQ(object["comparisons"][0]["passed"], true);
  EXPECT_NEAR(object["comparisons"][2]["largest"].get<double>(), 0.01, 1e-4);
  EXPECT_EQ(verify("hf-vit", path, {"--tolerance", "0.02"}).status, 0);
}

TEST(Verify, FailsWhenThePixelsDiffer) {
  tests::Tensors tensors = tests::read_tensors(golden("reference/transformers-pil.safetensors"));
  const std::string images = R"([")" + golden("images/rgb_plain.jpg") + R"("])";
  for (const bool swapped : {false, true}) {
    tests::Tensors changed{{"pixel_values", tensors["pixel_values"]},
                           {"logits", tensors["logits"]}};
    if (swapped) changed["pixel_values"] = changed["pixel_values"].flip(1);
    const std::string path = tests::write_tensors("r.safetensors", changed, {{"images", images}});
    const json object = verify_json("hf-vit", path, {"--tolerance", "100"});
    EXPECT_EQ(object["passed"], !swapped);
    const json& causes = object["pictures"][0]["causes"];
    EXPECT_EQ(causes.empty() ? "" : causes[0]["name"].get<std::string>(),
              swapped ? "channel_order" : "");
  }
}

TEST(Verify, TakesPhotosFromTheCommandLine) {
  const std::string path = tests::write_tensors(
      "r.safetensors", tests::read_tensors(golden("models/hf-vit/expected.safetensors")));
  EXPECT_THAT(verify("hf-vit", path).out, testing::Not(HasSubstr("pixels")));
  const auto two =
      verify("hf-vit", path,
             {"--image", golden("images/rgb_plain.jpg"), "--image", golden("images/rgb.png")});
  EXPECT_EQ(two.status, 0) << two.out;
  EXPECT_THAT(two.out, HasSubstr("rgb.png: largest 0.00"));
  EXPECT_THROW(verify("hf-vit", path, {"--image", golden("images/rgb.png")}), UsageError);
  const auto bad =
      verify("hf-vit", path,
             {"--image", golden("images/rgb_plain.jpg"), "--image", golden("images/bad/text.jpg")});
  EXPECT_EQ(bad.status, 1);
}

TEST(Verify, APhotoThatIsNotBesideTheFileIsSaid) {
  tests::Tensors tensors = tests::read_tensors(golden("reference/transformers-pil.safetensors"));
  const std::string path =
      tests::write_tensors("r.safetensors", tensors, {{"images", R"(["gone.jpg"])"}});
  const auto result = verify("hf-vit", path);
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("gone.jpg: not there"));
}

TEST(Verify, SaysWhenTheInputSizeDiffers) {
  const tests::Tensors tensors =
      tests::read_tensors(golden("models/hf-vit-rect/expected.safetensors"));
  const std::string images =
      R"([")" + golden("images/rgb_plain.jpg") + R"(", ")" + golden("images/rgb.png") + R"("])";
  const std::string path = tests::write_tensors("r.safetensors", tensors, {{"images", images}});
  const auto other = verify("hf-vit", path);
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.out, HasSubstr("--input-size"));
  const auto same = verify("hf-vit", path, {"--input-size", "48x32"});
  EXPECT_EQ(same.status, 0) << same.out;
}

TEST(Verify, NeedsAReference) {
  EXPECT_THROW(run_command(declare_verify, {"--model", golden("models/hf-vit")}), UsageError);
  EXPECT_THROW(verify("hf-vit", golden("models/hf-vit/config.json")), InputError);
}

}  // namespace
}  // namespace vitascope::app
