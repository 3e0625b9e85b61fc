#include "app/reference.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <limits>

#include "tests/app/reference_file.h"
#include "tests/golden.h"
#include "vit/error.h"
#include "vit/weights/model_directory.h"

namespace vitascope::app {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using tests::golden;
using tests::read_tensors;
using tests::write_tensors;

std::string expected_file(const std::string& model) {
  return golden("models/" + model + "/expected.safetensors");
}

const TensorComparison& find(const Verification& verification, const std::string& name) {
  for (const TensorComparison& comparison : verification.comparisons) {
    if (comparison.name == name) return comparison;
  }
  throw std::out_of_range(name);
}

std::string first_parting(const Verification& verification) {
  return verification.first_parting() ? verification.first_parting()->name : "";
}

// The first tensor that parts when one parameter of hf-vit is changed.
std::string parts_when_changed(const std::string& parameter) {
  weights::Model model = weights::open_model(golden("models/hf-vit"));
  for (auto& [name, tensor] : model.network.parameters()) {
    if (name == parameter) *tensor = *tensor * 1.5 + 0.01;
  }
  return first_parting(
      verify_outputs(model.network, read_reference(expected_file("hf-vit")), VerifyOptions{}));
}

TEST(VerifyOutputs, PassesWhatPythonGave) {
  for (const char* name : {"hf-vit", "hf-deit-distilled", "hf-dinov2", "hf-dinov2-reg-swiglu",
                           "timm-vit", "timm-vit-gap", "timm-vit-gap-cls"}) {
    const weights::Model model = weights::open_model(golden(std::string("models/") + name));
    const Verification verification =
        verify_outputs(model.network, read_reference(expected_file(name)), VerifyOptions{});
    EXPECT_EQ(first_parting(verification), "") << name;
    EXPECT_GE(verification.comparisons.size(), 7u) << name;
  }
}

TEST(VerifyOutputs, ComparesInTheOrderOfTheNetwork) {
  const weights::Model model = weights::open_model(golden("models/timm-vit"));
  const Verification verification =
      verify_outputs(model.network, read_reference(expected_file("timm-vit")), VerifyOptions{});
  std::vector<std::string> names;
  for (const TensorComparison& comparison : verification.comparisons)
    names.push_back(comparison.name);
  EXPECT_THAT(names,
              ElementsAre("hidden_states.0", "attentions.0", "hidden_states.1", "attentions.1",
                          "hidden_states.2", "last_hidden_state", "pooled", "logits"));
  EXPECT_THAT(verification.not_compared, Contains("labels"));
  EXPECT_THAT(find(verification, "attentions.1").shape, ElementsAre(2, 3, 17, 17));
}

TEST(VerifyOutputs, NamesTheFirstTensorThatParts) {
  EXPECT_EQ(parts_when_changed("patch_embed.proj.weight"), "hidden_states.0");
  EXPECT_EQ(parts_when_changed("blocks.0.mlp.fc1.weight"), "hidden_states.1");
  EXPECT_EQ(parts_when_changed("blocks.1.attn.qkv.weight"), "attentions.1");
  EXPECT_EQ(parts_when_changed("blocks.1.mlp.fc2.weight"), "hidden_states.2");
  EXPECT_EQ(parts_when_changed("norm.weight"), "last_hidden_state");
  EXPECT_EQ(parts_when_changed("head.bias"), "logits");
}

TEST(VerifyOutputs, MeasuresTheDifference) {
  const weights::Model model = weights::open_model(golden("models/hf-vit"));
  tests::Tensors tensors = read_tensors(expected_file("hf-vit"));
  tensors["logits"][1][2] += 0.5;
  const std::string path = write_tensors("r.safetensors", tensors);
  const Verification verification = verify_outputs(model.network, read_reference(path), {});
  const TensorComparison& logits = find(verification, "logits");
  EXPECT_FALSE(logits.passed());
  EXPECT_NEAR(logits.largest, 0.5, 1e-4);
  EXPECT_NEAR(logits.mean, 0.5 / 10, 1e-5);  // two photos, five classes
  EXPECT_NEAR(logits.allowed, 2e-5 * std::max(1.0, tensors["logits"].abs().max().item<double>()),
              1e-9);
  EXPECT_EQ(first_parting(verification), "logits");
}

TEST(VerifyOutputs, GivesTheSameInSmallBatches) {
  const weights::Model model = weights::open_model(golden("models/hf-vit"));
  tests::Tensors tensors = read_tensors(expected_file("hf-vit"));
  tensors["logits"][1][2] += 0.5;
  const std::string path = write_tensors("r.safetensors", tensors);
  const Verification verification =
      verify_outputs(model.network, read_reference(path), {.batch = 1});
  EXPECT_NEAR(find(verification, "logits").largest, 0.5, 1e-4);
  EXPECT_NEAR(find(verification, "logits").mean, 0.05, 1e-5);
  EXPECT_TRUE(find(verification, "attentions.1").passed());
}

TEST(VerifyOutputs, NaNNeverPasses) {
  const weights::Model model = weights::open_model(golden("models/hf-vit"));
  for (const int photo : {0, 1}) {
    tests::Tensors tensors = read_tensors(expected_file("hf-vit"));
    tensors["logits"][photo][0] = std::numeric_limits<float>::quiet_NaN();
    const std::string path = write_tensors("r.safetensors", tensors);
    EXPECT_EQ(first_parting(verify_outputs(model.network, read_reference(path), {.batch = 1})),
              "logits");
  }
}

TEST(VerifyOutputs, SaysWhatCanNotBeCompared) {
  const weights::Model model = weights::open_model(golden("models/hf-vit"));
  tests::Tensors tensors = read_tensors(expected_file("hf-vit"));
  tensors["logits"] = at::zeros({2, 7});
  tensors["hidden_states.3"] = tensors["hidden_states.2"];
  tensors["attentions.0"] = tensors["attentions.0"].slice(0, 0, 1);
  const std::string path = write_tensors("r.safetensors", tensors);
  const Verification verification = verify_outputs(model.network, read_reference(path), {});
  EXPECT_THAT(find(verification, "logits").mismatch, HasSubstr("[2, 5]"));
  EXPECT_THAT(find(verification, "hidden_states.3").mismatch, HasSubstr("only 2 blocks"));
  EXPECT_THAT(find(verification, "attentions.0").mismatch, HasSubstr("2 photos"));
  EXPECT_FALSE(verification.passed());
}

TEST(ReadReference, RefusesWhatIsNoReference) {
  const auto message = [](const tests::Tensors& tensors,
                          const std::map<std::string, std::string>& metadata = {}) {
    try {
      read_reference(write_tensors("r.safetensors", tensors, metadata));
    } catch (const InputError& error) {
      return error.message();
    }
    return std::string("accepted");
  };
  const at::Tensor pixels = at::zeros({1, 3, 32, 32});
  EXPECT_EQ(message({{"pixel_values", pixels}}), "accepted");
  EXPECT_THAT(message({{"logits", pixels}}), HasSubstr("holds no pixel_values"));
  EXPECT_THAT(message({{"pixel_values", at::zeros({3, 32, 32})}}), HasSubstr("[3, 32, 32]"));
  EXPECT_THAT(message({{"pixel_values", at::zeros({0, 3, 32, 32})}}), HasSubstr("[B, 3, H, W]"));
  EXPECT_THAT(message({{"pixel_values", pixels}}, {{"images", "a.jpg"}}), HasSubstr("JSON"));
  EXPECT_THAT(message({{"pixel_values", pixels}}, {{"images", "[1]"}}), HasSubstr("JSON list"));
}

TEST(ReadReference, FindsPhotosBesideTheFile) {
  const std::string path =
      write_tensors("r.safetensors", {{"pixel_values", at::zeros({2, 3, 8, 8})}},
                    {{"images", R"(["../a b.jpg", "/photos/c.png"])"}});
  const std::string folder = path.substr(0, path.rfind('/'));
  EXPECT_THAT(read_reference(path).images,
              ElementsAre(folder.substr(0, folder.rfind('/')) + "/a b.jpg", "/photos/c.png"));
}

TEST(VerifyOutputs, RefusesPixelsThatDoNotFitThePatches) {
  const weights::Model model = weights::open_model(golden("models/hf-vit"));
  const std::string path =
      write_tensors("r.safetensors",
                    {{"pixel_values", at::zeros({1, 3, 30, 32})}, {"logits", at::zeros({1, 5})}});
  EXPECT_THROW(verify_outputs(model.network, read_reference(path), {}), InputError);
}

TEST(VerifyOutputs, RefusesAFileThatHoldsOnlyPixels) {
  const weights::Model model = weights::open_model(golden("models/hf-vit"));
  const std::string path =
      write_tensors("r.safetensors", {{"pixel_values", at::zeros({1, 3, 32, 32})}});
  EXPECT_THROW(verify_outputs(model.network, read_reference(path), {}), InputError);
}

TEST(ExplainParting, NamesTheBlock) {
  EXPECT_THAT(explain_parting("hidden_states.0"), HasSubstr("embedding"));
  EXPECT_THAT(explain_parting("hidden_states.4"), HasSubstr("block 3"));
  EXPECT_THAT(explain_parting("attentions.3"), HasSubstr("attention of block 3"));
  EXPECT_THAT(explain_parting("logits"), HasSubstr("head"));
}

}  // namespace
}  // namespace vitascope::app
