#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "tests/vit/weights/made_tensors.h"
#include "tests/vit/weights/model_folder.h"
#include "vit/file.h"
#include "vit/weights/model_directory.h"
#include "vit/weights/safetensors.h"
#include "vit/weights/tensor_assembly.h"

namespace vitascope::weights {
namespace {

using testing::HasSubstr;

std::string golden_folder(const std::string& name) { return tests::golden("models/" + name); }

/// Saved and opened again: the logits of the golden pixels must be the same, bit for bit, but for
/// sums that the layout makes at another moment.
struct RoundTrip {
  const char* model;
  Layout layout;
  double tolerance;
};

class SaveModel : public testing::TestWithParam<RoundTrip> {};

TEST_P(SaveModel, OpensAgainToTheSameLogits) {
  const auto& [name, layout, tolerance] = GetParam();
  const ModelFolder folder("saved");
  const Model model = open_model(golden_folder(name));
  const std::string target = folder / "model";
  save_model(model, target, layout, /*force=*/false);
  const Model again = open_model(target);
  EXPECT_EQ(again.key_style, layout == Layout::timm ? "timm" : "transformers 4");
  const StoredTensors expected = read_safetensors(golden_folder(name) + "/expected.safetensors");
  const at::Tensor pixels = view_of(expected.tensors.at("pixel_values"));
  const c10::InferenceMode inference;
  const at::Tensor before = model.network.forward(pixels).logits;
  const at::Tensor after = again.network.forward(pixels).logits;
  EXPECT_LE((before - after).abs().max().item<double>(), tolerance);
  EXPECT_EQ(again.labels, model.labels);
  ASSERT_TRUE(again.specification);
  EXPECT_EQ(image::output_size(*again.specification), image::output_size(*model.specification));
  EXPECT_EQ(again.specification->mean, model.specification->mean);
  EXPECT_EQ(again.specification->std, model.specification->std);
  EXPECT_EQ(again.specification->resize, model.specification->resize);
  EXPECT_EQ(again.specification->edge, model.specification->edge);
  EXPECT_EQ(again.specification->filter, model.specification->filter);
}

// transformers' epsilon of 1e-12 becomes timm's 1e-6, which changes logits by some 3e-6.
constexpr double kExact = 0;
constexpr double kOtherEpsilon = 1e-5;

INSTANTIATE_TEST_SUITE_P(
    Layouts, SaveModel,
    testing::Values(RoundTrip{"hf-vit", Layout::transformers, kExact},
                    RoundTrip{"hf-vit", Layout::timm, kOtherEpsilon},
                    RoundTrip{"hf-deit-distilled", Layout::transformers, kExact},
                    RoundTrip{"hf-dinov2", Layout::transformers, kExact},
                    RoundTrip{"hf-dinov2-reg-swiglu", Layout::transformers, kExact},
                    RoundTrip{"timm-vit", Layout::transformers, kExact},
                    RoundTrip{"timm-vit", Layout::timm, kExact},
                    RoundTrip{"timm-deit3-pth", Layout::timm, kExact},
                    RoundTrip{"timm-vit-gap", Layout::timm, kExact},
                    RoundTrip{"timm-vit-gap-cls", Layout::timm, kExact},
                    RoundTrip{"augreg-npz", Layout::transformers, kExact},
                    RoundTrip{"augreg-npz", Layout::timm, kExact}),
    [](const auto& info) {
      std::string name = std::string(info.param.model) +
                         (info.param.layout == Layout::timm ? "_as_timm" : "_as_transformers");
      std::ranges::replace(name, '-', '_');
      return name;
    });

std::string usage_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no UsageError";
  return "";
}

TEST(SaveModelRefuses, WhatALayoutCanNotExpress) {
  const ModelFolder folder("refused");
  const auto complaint = [&](const char* name, Layout layout) {
    const Model model = open_model(golden_folder(name));
    const std::string text =
        usage_error([&] { save_model(model, folder / "model", layout, false); });
    EXPECT_FALSE(std::filesystem::exists(folder / "model"));
    return text;
  };
  EXPECT_EQ(complaint("timm-vit-gap", Layout::transformers),
            "the layout of transformers can't express a model without class token: choose another "
            "--layout");
  EXPECT_THAT(complaint("timm-vit-gap-cls", Layout::transformers), HasSubstr("fc_norm"));
  EXPECT_THAT(complaint("timm-deit3-pth", Layout::transformers), HasSubstr("LayerScale"));
  EXPECT_THAT(complaint("hf-dinov2", Layout::timm),
              HasSubstr("a head over class token and mean side by side"));
  EXPECT_THAT(complaint("hf-deit-distilled", Layout::timm), HasSubstr("an epsilon of 0.001"));
}

TEST(SaveModelRefuses, ToReplaceWithoutForceAndWhatIsNoSavedModel) {
  const ModelFolder folder("existing");
  const Model model = open_model(golden_folder("hf-vit"));
  const std::string target = folder / "model";
  save_model(model, target, Layout::transformers, false);
  EXPECT_EQ(usage_error([&] { save_model(model, target, Layout::transformers, false); }),
            target + " exists already: choose another name, or --force to replace it");
  save_model(model, target, Layout::transformers, true);
  EXPECT_NO_THROW(open_model(target));
  folder.write("model/thesis.txt", "years of work");
  EXPECT_EQ(usage_error([&] { save_model(model, target, Layout::transformers, true); }),
            target +
                " holds more than a saved model ('thesis.txt'), so it is not replaced: choose "
                "another name");
  EXPECT_EQ(read_file(target + "/thesis.txt", 100), "years of work");
}

TEST(SaveModelRefuses, PlacesThatCanNotBeWritten) {
  const ModelFolder folder("places");
  const Model model = open_model(golden_folder("hf-vit"));
  folder.write("file", "x");
  EXPECT_THAT(usage_error([&] { save_model(model, folder / "file", Layout::timm, true); }),
              HasSubstr("is a file: expected the name of a folder to make"));
  EXPECT_THAT(usage_error([&] { save_model(model, folder / "a/b", Layout::timm, false); }),
              HasSubstr("its folder does not exist"));
  EXPECT_THROW(save_model(model, "", Layout::timm, false), UsageError);
}

TEST(SaveModel, ForceReplacesTheVeryModelThatIsOpen) {
  const ModelFolder folder("itself");
  const std::string target = folder / "model";
  save_model(open_model(golden_folder("timm-vit")), target, Layout::timm, false);
  const Model model = open_model(target);
  save_model(model, target + "/", Layout::transformers, true);
  EXPECT_EQ(open_model(target).key_style, "transformers 4");
}

TEST(SaveModel, LeavesNothingElseBehind) {
  const ModelFolder folder("clean");
  const Model model = open_model(golden_folder("hf-vit"));
  save_model(model, folder / "model", Layout::transformers, false);
  save_model(model, folder / "model", Layout::transformers, true);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("model", "config.json", "model.safetensors",
                                                   "preprocessor_config.json"));
}

TEST(SaveModel, KeepsHalfPrecisionAndMultiLabel) {
  const ModelFolder folder("half");
  const ModelFolder source("source");
  source.copy("hf-vit/model.safetensors");
  Json config = golden_config("hf-vit");
  config["problem_type"] = "multi_label_classification";
  source.write("config.json", config.dump());
  OpenOptions options;
  options.precision = at::kBFloat16;
  save_model(open_model(source.path(), options), folder / "model", Layout::transformers, false);
  const Model again = open_model(folder / "model");
  EXPECT_EQ(again.stored_dtype, "BF16");
  EXPECT_TRUE(again.network.config().multi_label);
  EXPECT_FALSE(again.specification);
}

}  // namespace
}  // namespace vitascope::weights
