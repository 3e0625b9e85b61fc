#include "vit/weights/model_directory.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/vit/weights/made_tensors.h"
#include "tests/vit/weights/model_folder.h"

namespace vitascope::weights {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::string golden_model(const std::string& name) { return tests::golden("models/" + name); }

TEST(OpenModel, TellsWhereEverythingCameFrom) {
  const Model model = open_model(golden_model("hf-vit"));
  EXPECT_EQ(model.name, golden_model("hf-vit"));
  EXPECT_THAT(model.files,
              testing::UnorderedElementsAre(golden_model("hf-vit/model.safetensors"),
                                            golden_model("hf-vit/config.json"),
                                            golden_model("hf-vit/preprocessor_config.json")));
  EXPECT_EQ(model.key_style, "transformers 4");
  EXPECT_EQ(model.stored_dtype, "F32");
  EXPECT_EQ(model.label_source, "id2label of config.json");
  ASSERT_TRUE(model.specification);
  EXPECT_EQ(model.specification->size.height, 32);
}

TEST(OpenModel, KnowsStylesAndTypes) {
  EXPECT_EQ(open_model(golden_model("hf-vit-v5keys")).key_style, "transformers 5");
  EXPECT_EQ(open_model(golden_model("timm-vit")).key_style, "timm");
  EXPECT_EQ(open_model(golden_model("augreg-npz")).key_style, "AugReg");
  EXPECT_EQ(open_model(golden_model("hf-vit-bf16")).stored_dtype, "BF16");
  EXPECT_EQ(open_model(golden_model("hf-vit-fp16")).stored_dtype, "F16");
}

TEST(OpenModel, WeightsAreFloat32UnlessAnotherPrecisionIsAsked) {
  for (const char* name : {"hf-vit", "hf-vit-bf16", "hf-vit-fp16"}) {
    Model model = open_model(golden_model(name));
    for (const auto& [parameter, slot] : model.network.parameters()) {
      EXPECT_EQ(slot->scalar_type(), at::kFloat) << name << ' ' << parameter;
    }
    OpenOptions options;
    options.precision = at::kBFloat16;
    model = open_model(golden_model(name), options);
    for (const auto& [parameter, slot] : model.network.parameters()) {
      EXPECT_EQ(slot->scalar_type(), at::kBFloat16) << name << ' ' << parameter;
    }
  }
}

TEST(OpenModel, AnNpzTellsThatItsPreparationIsImplied) {
  const Model model = open_model(golden_model("augreg-npz"));
  ASSERT_TRUE(model.specification);
  EXPECT_THAT(model.specification->source, HasSubstr("implied"));
  EXPECT_EQ(model.specification->edge, 35);  // floor(32 / 0.9)
  EXPECT_EQ(model.specification->filter, image::Filter::bicubic);
}

TEST(OpenModel, ABareFileNeedsItsArchitecture) {
  const ModelFolder folder("bare");
  folder.copy("timm-vit/model.safetensors", "mine.safetensors");
  EXPECT_EQ(input_error([&] { open_model(folder / "mine.safetensors"); }),
            folder / "mine.safetensors" +
                ": has no config.json beside it, which says what model it is: name the "
                "architecture, as in --architecture vit_base_patch16_224");
  OpenOptions options;
  options.architecture = "vit_tiny_patch16_224";
  // The golden model is narrower than the architecture, which its tensors' shapes tell.
  EXPECT_THAT(input_error([&] { open_model(folder / "mine.safetensors", options); }),
              HasSubstr("of another shape"));
  options.architecture = "vit_tiny_patch16_223";
  EXPECT_THAT(input_error([&] { open_model(folder / "mine.safetensors", options); }),
              HasSubstr("the nearest is 'vit_tiny_patch16_224'"));
}

TEST(OpenModel, AnArchitectureBesideAConfigurationIsAMistake) {
  OpenOptions options;
  options.architecture = "vit_tiny_patch16_224";
  EXPECT_THAT([&] { open_model(golden_model("hf-vit"), options); },
              testing::ThrowsMessage<UsageError>(HasSubstr("leave the flag out")));
  EXPECT_THROW(open_model(golden_model("augreg-npz"), options), UsageError);
}

TEST(OpenModel, ARandomArchitecturesWeightsOpenAsABareFile) {
  const ModelFolder folder("random");
  const std::string target = folder / "saved";
  save_model(random_model("test_vit"), target, Layout::timm, false);
  std::filesystem::remove(target + "/config.json");
  OpenOptions options;
  options.architecture = "test_vit.r160_in1k";
  const Model model = open_model(target, options);
  EXPECT_EQ(model.network.config().family, "test_vit");
  EXPECT_FALSE(model.specification);
  EXPECT_THAT(model.specification_missing,
              HasSubstr("has no preprocessor_config.json, which says how pictures are prepared: "
                        "give one with --preprocessor FILE"));
}

TEST(OpenModel, RefusesAConfigurationOfTheOtherLibrary) {
  const ModelFolder folder("mixed");
  folder.copy("timm-vit/config.json");
  folder.copy("hf-vit/model.safetensors");
  EXPECT_THAT(input_error([&] { open_model(folder.path()); }),
              HasSubstr("has tensors named as in transformers 4, but"));
  folder.copy("hf-vit/config.json");
  folder.copy("timm-vit/model.safetensors");
  EXPECT_THAT(input_error([&] { open_model(folder.path()); }),
              HasSubstr("has tensors named as in timm, but"));
  folder.write("config.json", "{\"layers\": 12}");
  EXPECT_THAT(input_error([&] { open_model(folder.path()); }),
              HasSubstr("config.json: has neither 'model_type' (transformers) nor 'architecture' "
                        "(timm)"));
  folder.write("config.json", "{\"layers\": ");
  EXPECT_THAT(input_error([&] { open_model(folder.path()); }), HasSubstr("config.json: not JSON"));
}

TEST(OpenModel, ConfigurationAndTensorsMustAgree) {
  const ModelFolder folder("disagree");
  folder.copy("hf-vit/model.safetensors");
  Json config = golden_config("hf-vit");
  config["num_hidden_layers"] = 3;
  folder.write("config.json", config.dump());
  EXPECT_THAT(input_error([&] { open_model(folder.path()); }),
              HasSubstr("model.safetensors: the tensors do not fit the model's description: 16 "
                        "missing: 'vit.encoder.layer.2."));
  config = golden_config("hf-vit");
  config["intermediate_size"] = 65;
  folder.write("config.json", config.dump());
  EXPECT_THAT(input_error([&] { open_model(folder.path()); }),
              HasSubstr("'vit.encoder.layer.0.intermediate.dense.weight' is [64, 48], expected "
                        "[65, 48]"));
}

TEST(OpenModel, OpensBackbonesWithAndWithoutPrefix) {
  const ModelFolder folder("backbone");
  Model model = open_model(golden_model("hf-vit"));
  model::Config config = model.network.config();
  config.classes = 0;
  model::VisionTransformer backbone(config);
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [name, slot] : model.network.parameters()) tensors[name] = *slot;
  for (const auto& [name, slot] : backbone.parameters()) *slot = tensors.at(name);
  model.network = backbone;
  const std::string target = folder / "saved";
  save_model(model, target, Layout::transformers, false);
  const Model reopened = open_model(target);
  EXPECT_EQ(reopened.network.config().classes, 0);
  EXPECT_TRUE(reopened.labels.empty());
  const at::Tensor pixels = at::ones({1, 3, 32, 32});
  const c10::InferenceMode inference;
  EXPECT_FALSE(reopened.network.forward(pixels).logits.defined());
  EXPECT_TRUE(reopened.network.forward(pixels).tokens.equal(model.network.forward(pixels).tokens));
}

TEST(OpenModel, LabelsFromAFileReplaceTheModels) {
  const ModelFolder folder("labels");
  folder.write("labels.txt", "a\nb\nc\nd\ne\n");
  OpenOptions options;
  options.labels_file = folder / "labels.txt";
  const Model model = open_model(golden_model("hf-vit"), options);
  EXPECT_THAT(model.labels, ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(model.label_source, folder / "labels.txt");
  folder.write("labels.txt", "a\nb\n");
  EXPECT_THAT(input_error([&] { open_model(golden_model("hf-vit"), options); }),
              HasSubstr("holds 2 labels, one a line: expected 5"));
}

TEST(OpenModel, PlainIndicesStandInForNamesAndSaySo) {
  const Model model = open_model(golden_model("augreg-npz"));
  EXPECT_THAT(model.labels, ElementsAre("0", "1", "2", "3", "4"));
  EXPECT_EQ(model.label_source,
            "plain indices: the model's files name no classes; --labels FILE gives names");
}

TEST(OpenModel, BuiltInListsNameTheClassesOfImageNet) {
  const ModelFolder folder("built-in");
  std::string list;
  for (int i = 0; i < 1000; ++i) list += "class " + std::to_string(i) + "\n";
  folder.write("share/labels/imagenet-1k.txt", list);
  save_model(random_model("test_vit"), folder / "in1k", Layout::timm, false);
  save_model(random_model("test_vit"), folder / "other", Layout::timm, false);
  setenv("VITASCOPE_SHARE", (folder / "share").c_str(), 1);
  const Model named = open_model(folder / "in1k");
  EXPECT_EQ(named.labels.at(999), "class 999");
  EXPECT_EQ(named.label_source, "built-in list imagenet-1k");
  EXPECT_EQ(open_model(folder / "in1k/").labels.at(999), "class 999");
  const Model unnamed = open_model(folder / "other/");
  EXPECT_EQ(unnamed.labels.at(999), "999");
  setenv("VITASCOPE_SHARE", (folder / "nowhere").c_str(), 1);
  EXPECT_THAT(open_model(folder / "in1k").label_source,
              HasSubstr("the list imagenet-1k is not installed"));
  unsetenv("VITASCOPE_SHARE");
}

TEST(OpenModel, AnotherInputSizeChangesPreparationAndGrid) {
  OpenOptions options;
  options.input_size = image::Size{48, 64};
  const Model model = open_model(golden_model("timm-vit"), options);
  EXPECT_EQ(model.network.config().native_grid, (model::Grid{8, 6}));
  EXPECT_EQ(model.network.config().position_grid, (model::Grid{4, 4}));
  EXPECT_EQ(image::output_size(*model.specification), (image::Size{48, 64}));
}

TEST(OpenModel, TheGridIsThatOfThePicturesNotOfThePositions) {
  // hf-dinov2 stores positions for 70 pixels and prepares pictures at another size.
  const Model model = open_model(golden_model("hf-dinov2"));
  ASSERT_TRUE(model.specification);
  const auto input = image::output_size(*model.specification);
  ASSERT_TRUE(input);
  EXPECT_EQ(model.network.config().native_grid.rows, input->height / 14);
  EXPECT_EQ(model.network.config().position_grid, (model::Grid{5, 5}));
}

TEST(OpenModel, AnotherPreprocessorMayBeNamed) {
  const ModelFolder folder("preprocessor");
  OpenOptions options;
  options.preprocessor_file = golden_model("hf-deit-distilled/preprocessor_config.json");
  const Model model = open_model(golden_model("hf-vit"), options);
  EXPECT_THAT(model.files, Contains(options.preprocessor_file));
  options.preprocessor_file = folder / "missing.json";
  EXPECT_THAT(input_error([&] { open_model(golden_model("hf-vit"), options); }),
              HasSubstr("missing.json"));
}

TEST(OpenModel, AnAbsurdInputSizeIsAUsageError) {
  OpenOptions options;
  options.input_size = image::Size{1 << 20, 1 << 20};
  EXPECT_THROW(open_model(golden_model("hf-vit"), options), UsageError);
  EXPECT_THROW(random_model("test_vit", options), UsageError);
}

TEST(OpenModel, AMissingPreprocessorIsToldNotGuessed) {
  const ModelFolder folder("without");
  folder.copy("hf-vit/model.safetensors");
  folder.copy("hf-vit/config.json");
  const Model model = open_model(folder.path());
  EXPECT_FALSE(model.specification);
  EXPECT_THAT(model.specification_missing, HasSubstr("--preprocessor FILE"));
}

TEST(RandomModel, NamesTheNearestArchitecture) {
  EXPECT_THAT([] { random_model("vit_base_patch16_225"); },
              testing::ThrowsMessage<UsageError>(
                  "'vit_base_patch16_225' is no known architecture: expected a plain vision "
                  "transformer of timm; the nearest is 'vit_base_patch16_224'"));
}

TEST(RandomModel, GivesFiniteLogits) {
  const c10::InferenceMode inference;
  const Model model = random_model("test_vit");
  const at::Tensor logits = model.network.forward(at::ones({1, 3, 160, 160})).logits;
  EXPECT_EQ(logits.size(1), 1000);
  EXPECT_TRUE(at::isfinite(logits).all().item<bool>());
  EXPECT_GT(logits.std().item<double>(), 0);
}

}  // namespace
}  // namespace vitascope::weights
