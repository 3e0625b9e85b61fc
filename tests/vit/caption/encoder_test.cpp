#include "vit/caption/encoder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <stdexcept>

#include "tests/input_error.h"
#include "tests/vit/caption/golden_cnn.h"
#include "tests/vit/model/tiny_model.h"
#include "tests/vit/weights/model_folder.h"
#include "vit/error.h"
#include "vit/image/preprocess.h"
#include "vit/weights/tensor_file.h"

namespace vitascope::caption {
namespace {

using testing::HasSubstr;
using vitascope::tests::input_error;
using weights::ModelFolder;

Encoder golden_encoder(const std::string& network) {
  Cnn cnn = tests::golden_network(network);
  image::Specification specification = cnn.specification;
  return {network, std::move(cnn), specification};
}

TEST(Encoder, ReadsACnnsGridRowByRow) {
  const Encoder encoder = golden_encoder("resnet18");
  const Annotations annotations = encoder.annotate(tests::golden_tensor("resnet18", "pixels"));
  EXPECT_EQ(annotations.rows, 2);
  EXPECT_EQ(annotations.columns, 3);
  EXPECT_EQ(annotations.values.sizes(), (std::vector<std::int64_t>{2, 6, 16}));
  EXPECT_FALSE(annotations.mask.defined());
  const at::Tensor features = tests::golden_tensor("resnet18", "features");
  EXPECT_LE(
      tests::relative_error(annotations.values.select(1, 5), features.select(3, 2).select(2, 1)),
      5e-6);
  EXPECT_LE(
      tests::relative_error(annotations.values.select(1, 1), features.select(3, 1).select(2, 0)),
      5e-6);
}

TEST(Encoder, GivesATransformersPatchesAfterItsFinalNorm) {
  model::Config config = model::tests::tiny_config();
  config.registers = 2;
  const model::VisionTransformer network = model::tests::random_weights(config);
  const Encoder encoder("vit", network, {});
  EXPECT_EQ(encoder.channels(), 12);
  EXPECT_EQ(encoder.stride(), 4);
  at::manual_seed(3);
  const at::Tensor pixels = at::randn({2, 3, 8, 12});
  const Annotations annotations = encoder.annotate(pixels);
  EXPECT_EQ(annotations.rows, 2);
  EXPECT_EQ(annotations.columns, 3);
  // The class token and two registers come first.
  EXPECT_TRUE(at::equal(annotations.values, network.forward(pixels).tokens.slice(1, 3, 9)));
}

TEST(Encoder, TakesWholeCellsOnly) {
  const Encoder encoder = golden_encoder("resnet18");
  EXPECT_EQ(encoder.annotate(at::zeros({1, 3, 32, 160})).columns, 5);
  for (const auto& size :
       {std::vector<std::int64_t>{1, 3, 32, 48}, {1, 3, 16, 32}, {1, 3, 0, 32}}) {
    try {
      encoder.annotate(at::zeros(size));
      ADD_FAILURE() << size;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), HasSubstr("must be a multiple of 32 for resnet18"));
    }
  }
}

TEST(Encoder, ItsCellsLieWhereTheViewSays) {
  // The photo's bright corner is seen most by the cell that View::cell places there.
  Encoder encoder = golden_encoder("vgg16");
  image::Picture photo;
  photo.size = {400, 200};
  EXPECT_EQ(image::geometry(encoder.specification(), photo.size).output, (image::Size{224, 224}));
  const image::View view(image::geometry(encoder.specification(), photo.size), photo.size,
                         photo.size, 1);
  const image::Rectangle first = view.cell(0, 0, 14, 14), last = view.cell(13, 13, 14, 14);
  // 512 x 256 after resizing, of which the crop leaves out 144 on the left and 16 above.
  EXPECT_NEAR(first.left, 144 / 1.28, 1e-9);
  EXPECT_NEAR(first.top, 16 / 1.28, 1e-9);
  EXPECT_NEAR(last.right, 368 / 1.28, 1e-9);
  EXPECT_NEAR(last.bottom, 240 / 1.28, 1e-9);
}

TEST(OpenEncoder, OpensAFileAndAFolder) {
  const ModelFolder folder("encoder");
  std::filesystem::copy_file(tests::golden_path("resnet18"), folder / "weights.safetensors");
  for (const std::string& path : {folder / "weights.safetensors", folder.path()}) {
    const Encoder encoder = open_encoder(path);
    EXPECT_EQ(encoder.name(), "resnet18");
    EXPECT_EQ(encoder.specification().edge, 256);
    EXPECT_THAT(encoder.files, testing::ElementsAre(folder / "weights.safetensors"));
    const at::Tensor got = encoder.annotate(tests::golden_tensor("resnet18", "pixels")).values;
    const at::Tensor expected =
        tests::golden_tensor("resnet18", "features").flatten(2).transpose(1, 2);
    EXPECT_LE(tests::relative_error(got, expected), 5e-6);
  }
  std::filesystem::copy_file(tests::golden_path("vgg16"), folder / "other.safetensors");
  EXPECT_THAT(input_error([&] { open_encoder(folder.path()); }),
              HasSubstr("holds 2 weight files, the first"));
}

TEST(OpenEncoder, TakesTimmsWordForHowPhotosArePrepared) {
  const ModelFolder folder("encoder-timm");
  std::filesystem::copy_file(tests::golden_path("resnet18"), folder / "model.safetensors");
  folder.write("config.json",
               R"({"architecture": "resnet18", "pretrained_cfg": {"input_size": [3, 288, 288],
                   "crop_pct": 1.0, "interpolation": "bicubic", "mean": [0.1, 0.2, 0.3],
                   "std": [0.5, 0.5, 0.5]}})");
  const Encoder encoder = open_encoder(folder.path());
  EXPECT_EQ(encoder.specification().crop, (image::Size{288, 288}));
  EXPECT_EQ(encoder.specification().filter, image::Filter::bicubic);
  EXPECT_FLOAT_EQ(encoder.specification().mean[1], 0.2f);
}

TEST(OpenEncoder, OpensAVisionTransformer) {
  const std::string model = vitascope::tests::golden("models/timm-vit");
  const Encoder encoder = open_encoder(model);
  const auto expected = weights::read_safetensors(model + "/expected.safetensors");
  const at::Tensor pixels = weights::view_of(expected.tensors.at("pixel_values"));
  const Annotations annotations = encoder.annotate(pixels);
  EXPECT_EQ(annotations.rows * annotations.columns, annotations.values.size(1));
  const at::Tensor tokens = weights::view_of(expected.tensors.at("last_hidden_state"));
  EXPECT_LE(tests::relative_error(annotations.values, tokens.slice(1, 1)), 1e-4);
}

TEST(OpenEncoder, KeepsItPlainWhereItLearns) {
  Encoder encoder = open_encoder(tests::golden_path("vgg16"), {.pack = false});
  EXPECT_EQ(encoder.parameters().size(), 26u);
  for (const auto& [name, slot] : encoder.parameters()) EXPECT_FALSE(slot->is_mkldnn()) << name;
}

TEST(OpenEncoder, TakesAnotherSizeAndStride) {
  const std::string path = tests::golden_path("efficientnet_lite0");
  const Encoder encoder = open_encoder(path, {.input_size = image::Size{160, 96}, .stride = 16});
  EXPECT_EQ(encoder.stride(), 16);
  EXPECT_EQ(image::output_size(encoder.specification()), (image::Size{160, 96}));
  EXPECT_THROW(open_encoder(path, {.input_size = image::Size{224, 232}}), UsageError);
  EXPECT_THROW(open_encoder(path, {.stride = 64}), UsageError);
  EXPECT_THROW(open_encoder(vitascope::tests::golden("models/timm-vit"), {.stride = 16}),
               UsageError);
}

TEST(OpenEncoder, SeesTheWholePhotoWhereAsked) {
  for (const std::string& path :
       {tests::golden_path("efficientnet_lite0"), vitascope::tests::golden("models/timm-vit")}) {
    const image::Specification cut = open_encoder(path).specification();
    const image::Specification whole = open_encoder(path, {.whole_photo = true}).specification();
    EXPECT_EQ(image::output_size(whole), image::output_size(cut)) << path;
    const image::Geometry wide = image::geometry(whole, {.width = 300, .height = 100});
    EXPECT_EQ(wide.resized, wide.output) << path;
    EXPECT_EQ(whole.mean, cut.mean) << path;
  }
}

TEST(OpenEncoder, TellsWhatIsNoEncoder) {
  const ModelFolder folder("encoder-none");
  weights::write_tensors(folder / "a.safetensors", {{"decoder.weight", at::ones({2})}}, {}, false);
  EXPECT_THAT(
      input_error([&] { open_encoder(folder / "a.safetensors"); }),
      HasSubstr("no encoder that is known by its tensors' names: holds 1 tensors, the first "
                "'decoder.weight'; expected torchvision's VGG or ResNet"));
}

}  // namespace
}  // namespace vitascope::caption
