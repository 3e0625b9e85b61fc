#include "vit/caption/cnn.h"

#include <gmock/gmock.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <stdexcept>

#include "tests/vit/caption/golden_cnn.h"

namespace vitascope::caption {
namespace {

using testing::HasSubstr;

// float32 against float64 stays below a fifth of this; an epsilon of 1e-5 for 1e-3 changes 1e-4.
constexpr double kFeatures = 5e-6;
constexpr double kGradients = 5e-5;

struct Facts {
  const char* file;
  const char* name;
  std::int64_t channels, stride;
};

void PrintTo(const Facts& facts, std::ostream* out) { *out << facts.file; }

class GoldenCnn : public testing::TestWithParam<Facts> {};

TEST_P(GoldenCnn, IsRecognisedByItsNamesAndShapes) {
  const Cnn network = tests::golden_network(GetParam().file);
  EXPECT_EQ(network.name, GetParam().name);
  EXPECT_EQ(network.channels(), GetParam().channels);
  EXPECT_EQ(network.stride(), GetParam().stride);
}

TEST_P(GoldenCnn, GivesTheFeaturesOfPython) {
  const std::string file = GetParam().file;
  const Cnn network = tests::golden_network(file);
  const at::Tensor features = network.forward(tests::golden_tensor(file, "pixels"));
  EXPECT_LE(tests::relative_error(features, tests::golden_tensor(file, "features")), kFeatures);
}

TEST_P(GoldenCnn, GivesThemPackedToo) {
  const std::string file = GetParam().file;
  Cnn network = tests::golden_network(file);
  const Cnn plain = network;
  network.pack();
  const at::Tensor pixels = tests::golden_tensor(file, "pixels"), before = pixels.clone();
  const at::Tensor expected = tests::golden_tensor(file, "features");
  EXPECT_LE(tests::relative_error(network.forward(pixels), expected), kFeatures);
  // What is summed in place is nobody else's.
  EXPECT_TRUE(at::equal(pixels, before));
  EXPECT_LE(tests::relative_error(network.forward(pixels), expected), kFeatures);
  EXPECT_LE(tests::relative_error(plain.forward(pixels), expected), kFeatures);
}

TEST_P(GoldenCnn, GivesTheGradientsOfPython) {
  const std::string file = GetParam().file;
  Cnn network = tests::golden_network(file);
  for (const auto& [name, slot] : network.parameters()) slot->requires_grad_();
  const at::Tensor features = network.forward(tests::golden_tensor(file, "pixels"));
  (features * tests::golden_tensor(file, "coefficients")).sum().backward();
  const auto all = weights::read_safetensors(tests::golden_path(file + "-expected"));
  for (const auto& [name, slot] : network.parameters()) {
    ASSERT_TRUE(slot->grad().defined()) << name;
    if (!all.tensors.contains("gradient." + name)) continue;
    const at::Tensor expected = tests::golden_tensor(file, "gradient." + name);
    EXPECT_LE(tests::relative_error(slot->grad(), expected), kGradients) << name;
  }
}

TEST_P(GoldenCnn, NamesAllThatItsFileHolds) {
  Cnn network = tests::golden_network(GetParam().file);
  std::vector<std::string> names, stored;
  for (const auto& [name, slot] : network.parameters()) names.push_back(name);
  for (const auto& [name, slot] : network.statistics()) names.push_back(name);
  const auto all = weights::read_safetensors(tests::golden_path(GetParam().file));
  for (const auto& [name, tensor] : all.tensors) {
    if (!name.ends_with("num_batches_tracked")) stored.push_back(name);
  }
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(stored));
}

INSTANTIATE_TEST_SUITE_P(Networks, GoldenCnn,
                         testing::Values(Facts{"vgg16", "vgg16", 5, 16},
                                         Facts{"vgg19_bn", "vgg19_bn", 5, 16},
                                         Facts{"resnet18", "resnet18", 16, 32},
                                         Facts{"resnet50", "resnet50", 64, 32},
                                         Facts{"resnext26", "resnet26", 64, 32},
                                         Facts{"efficientnet_lite0", "efficientnet_lite0", 20, 32}),
                         [](const auto& info) { return std::string(info.param.file); });

TEST(Cnn, IsCutBehindAFinerGrid) {
  const Cnn whole = tests::golden_network("efficientnet_lite0");
  Cnn network = whole;
  network.cut(16);
  EXPECT_EQ(network.stride(), 16);
  // The stem and the 11 blocks of stages 1 to 5.
  EXPECT_EQ(network.blocks.size(), 12u);
  const at::Tensor pixels = tests::golden_tensor("efficientnet_lite0", "pixels");
  const at::Tensor features = network.forward(pixels);
  EXPECT_EQ(features.sizes(), (std::vector<std::int64_t>{2, 7, 4, 6}));
  Cnn rest = whole;
  rest.blocks.erase(rest.blocks.begin(), rest.blocks.begin() + 12);
  EXPECT_TRUE(at::allclose(rest.forward(features), whole.forward(pixels), 1e-5, 1e-6));
}

TEST(Cnn, SaysWhichGridsItHas) {
  Cnn network = tests::golden_network("vgg16");
  try {
    network.cut(32);
    FAIL() << "cut";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("vgg16 has no grid of 32 pixels to a cell"));
    EXPECT_THAT(error.what(), HasSubstr("expected 1, 2, 4, 8, 16"));
  }
}

}  // namespace
}  // namespace vitascope::caption
