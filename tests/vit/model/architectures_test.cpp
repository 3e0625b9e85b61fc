#include "vit/model/architectures.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/golden.h"

namespace vitascope::model {
namespace {

/// timm's own account of every architecture (tests/golden/generate/make_architectures.py).
const nlohmann::json& timm_architectures() {
  static const nlohmann::json json = [] {
    std::ifstream file(tests::golden("architectures.json"));
    return nlohmann::json::parse(file);
  }();
  return json.at("architectures");
}

/// One line a parameter, as the generator writes it.
std::uint32_t layout_checksum(const Config& config) {
  std::string text;
  for (const auto& [name, shape] : parameter_shapes(config)) {
    text += name + ' ';
    for (std::size_t i = 0; i < shape.size(); ++i) {
      text += (i > 0 ? "," : "") + std::to_string(shape[i]);
    }
    text += '\n';
  }
  return std::uint32_t(
      crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
}

std::string activation_name(Activation activation) {
  switch (activation) {
    case Activation::gelu:
      return "gelu";
    case Activation::gelu_tanh:
      return "gelu_tanh";
    case Activation::quick_gelu:
      return "quick_gelu";
    case Activation::relu:
      return "relu";
    case Activation::silu:
      return "silu";
  }
  return "";
}

std::string pooling_name(Pooling pooling) {
  return pooling == Pooling::mean_patches ? "mean" : "token";
}

TEST(Architectures, AreTheOnesOfTimm) {
  std::vector<std::string> expected;
  for (const auto& entry : timm_architectures()) expected.push_back(entry.at("name"));
  EXPECT_GT(expected.size(), 100u);
  EXPECT_THAT(architecture_names(), testing::UnorderedElementsAreArray(expected));
}

TEST(Architectures, HaveTimmsParametersByNameShapeAndOrder) {
  for (const auto& entry : timm_architectures()) {
    const std::string name = entry.at("name");
    SCOPED_TRACE(name);
    const auto config = architecture(name);
    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(layout_checksum(*config), entry.at("layout").get<std::uint32_t>());
    EXPECT_EQ(parameter_count(*config), entry.at("parameters").get<std::int64_t>());
  }
}

TEST(Architectures, HaveTimmsSettingsThatNoShapeShows) {
  for (const auto& entry : timm_architectures()) {
    const std::string name = entry.at("name");
    SCOPED_TRACE(name);
    const auto config = architecture(name);
    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(config->family, name);
    EXPECT_EQ(config->heads, entry.at("heads").get<int>());
    EXPECT_EQ(config->mlp_width, entry.at("mlp_width").get<int>());
    EXPECT_EQ(config->native_grid.rows * config->patch, [&] {
      const int size = entry.at("image_size");
      return size - size % config->patch;
    }());
    EXPECT_EQ(config->position_prefix + config->position_grid.count(),
              entry.at("position_tokens").get<int>());
    EXPECT_EQ(config->class_token, entry.at("class_token").get<bool>());
    EXPECT_EQ(config->distillation_token, entry.at("distillation_token").get<bool>());
    EXPECT_EQ(config->registers, entry.at("registers").get<int>());
    EXPECT_EQ(config->swiglu, entry.at("swiglu").get<bool>());
    EXPECT_EQ(activation_name(config->activation), entry.at("activation").get<std::string>());
    EXPECT_EQ(config->norm_epsilon, entry.at("norm_epsilon").get<double>());
    EXPECT_EQ(pooling_name(config->pooling), entry.at("pooling").get<std::string>());
    EXPECT_EQ(config->interpolation, PositionInterpolation::bicubic_antialias);
    EXPECT_NO_THROW(validate(*config));
  }
}

TEST(Architectures, ATagAfterADotIsIgnored) {
  EXPECT_EQ(architecture("vit_base_patch16_224.augreg_in21k"),
            architecture("vit_base_patch16_224"));
}

TEST(Architectures, AnUnknownNameHasNone) {
  EXPECT_FALSE(architecture("vit_base_patch16"));
  EXPECT_FALSE(architecture("resnet50"));
  EXPECT_FALSE(architecture(""));
}

}  // namespace
}  // namespace vitascope::model
