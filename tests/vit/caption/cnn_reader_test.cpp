#include "vit/caption/cnn_reader.h"

#include <gmock/gmock.h>

#include "tests/input_error.h"
#include "tests/vit/caption/golden_cnn.h"

namespace vitascope::caption {
namespace {

using testing::HasSubstr;
using vitascope::tests::input_error;

weights::StoredTensors stored(const std::string& network) {
  return weights::read_safetensors(tests::golden_path(network));
}

std::string fault(const weights::StoredTensors& tensors) {
  return input_error([&] { read_cnn(tensors, "a.pth"); });
}

TEST(CnnReader, LeavesOtherNetworksAlone) {
  EXPECT_FALSE(read_cnn({}, "a.pth"));
  weights::StoredTensors alone;
  alone.tensors["blocks.0.attn.qkv.weight"].shape = {6, 2};
  EXPECT_FALSE(read_cnn(alone, "a.pth"));
  alone.tensors["features.0.0.weight"].shape = {6, 2, 3, 3};  // torchvision's EfficientNet
  EXPECT_FALSE(read_cnn(alone, "a.pth"));
}

TEST(CnnReader, LeavesHeadsAway) {
  weights::StoredTensors tensors = stored("resnet18");
  tensors.tensors["fc.weight"] = tensors.tensors["conv1.weight"];
  EXPECT_TRUE(read_cnn(tensors, "a.pth"));
}

TEST(CnnReader, NamesWhatIsMissing) {
  weights::StoredTensors tensors = stored("resnet50");
  tensors.tensors.erase("layer3.2.bn2.running_var");
  EXPECT_THAT(fault(tensors), HasSubstr("a.pth: has no tensor 'layer3.2.bn2.running_var', which "
                                        "resnet50 needs"));
  // The stage that holds the features.
  std::erase_if(tensors.tensors,
                [](const auto& entry) { return entry.first.starts_with("layer4"); });
  tensors.tensors["layer3.2.bn2.running_var"] = tensors.tensors["layer3.2.bn2.running_mean"];
  EXPECT_THAT(fault(tensors), HasSubstr("has no tensor 'layer4.0.conv1.weight'"));
}

TEST(CnnReader, NamesAShapeThatDoesNotFit) {
  weights::StoredTensors tensors = stored("vgg16");
  tensors.tensors["features.2.weight"] = tensors.tensors["features.7.weight"];
  EXPECT_THAT(fault(tensors),
              HasSubstr("'features.2.weight' is [4, 4, 3, 3]: expected [4, 3, 3, 3], as the rest "
                        "of vgg16 asks for"));
  tensors = stored("efficientnet_lite0");
  tensors.tensors["_blocks.3._depthwise_conv.weight"] =
      tensors.tensors["_blocks.5._depthwise_conv.weight"];
  EXPECT_THAT(fault(tensors), HasSubstr("'_blocks.3._depthwise_conv.weight' is ["));
}

TEST(CnnReader, NamesATensorThatIsNotTheNetworks) {
  weights::StoredTensors tensors = stored("resnet18");
  tensors.tensors["layer1.0.se.fc1.weight"] = tensors.tensors["conv1.weight"];
  EXPECT_THAT(fault(tensors),
              HasSubstr("has a tensor 'layer1.0.se.fc1.weight', which resnet18 does "
                        "not have"));
}

TEST(CnnReader, SaysWhatAVggLooksLike) {
  weights::StoredTensors tensors = stored("vgg16");
  tensors.tensors.erase("features.12.weight");
  EXPECT_THAT(fault(tensors), HasSubstr("'features.14.weight' follows 'features.10.weight': a VGG "
                                        "of torchvision would have its next convolution at 12, or "
                                        "at 13 behind a max-pool"));
}

TEST(CnnReader, TellsOtherEfficientNets) {
  weights::StoredTensors tensors = stored("efficientnet_lite0");
  tensors.tensors["_blocks.16._depthwise_conv.weight"] =
      tensors.tensors["_blocks.5._depthwise_conv.weight"];
  EXPECT_THAT(fault(tensors), HasSubstr("has 17 blocks: expected an EfficientNet-Lite0, which has "
                                        "16"));
  tensors = stored("efficientnet_lite0");
  tensors.tensors["_blocks.0._se_reduce.weight"] = tensors.tensors["_conv_stem.weight"];
  EXPECT_THAT(fault(tensors), HasSubstr("has 16 blocks with squeeze-and-excitation"));
}

TEST(CnnReader, KnowsHowPicturesWerePrepared) {
  const image::Specification resnet = tests::golden_network("resnet18").specification;
  EXPECT_EQ(resnet.resize, image::ResizeMode::shortest_edge);
  EXPECT_EQ(resnet.edge, 256);
  EXPECT_EQ(resnet.crop, (image::Size{224, 224}));
  EXPECT_EQ(resnet.crop_offset, image::CropOffset::round_half_even);
  EXPECT_EQ(resnet.filter, image::Filter::bilinear);
  EXPECT_EQ(resnet.mean, (std::array<float, 3>{0.485f, 0.456f, 0.406f}));
  EXPECT_EQ(resnet.std, (std::array<float, 3>{0.229f, 0.224f, 0.225f}));
  const image::Specification lite = tests::golden_network("efficientnet_lite0").specification;
  EXPECT_EQ(lite.edge, 256);
  EXPECT_EQ(lite.filter, image::Filter::bicubic);
  EXPECT_EQ(lite.mean, (std::array<float, 3>{0.5f, 0.5f, 0.5f}));
}

}  // namespace
}  // namespace vitascope::caption
