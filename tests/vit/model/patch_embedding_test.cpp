#include "vit/model/patch_embedding.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/vit/model/tiny_model.h"

namespace vitascope::model {
namespace {

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

PatchEmbedding embedding(const Config& config) {
  at::manual_seed(2);
  PatchEmbedding embed;
  embed.weight = at::randn({config.width, 3, config.patch, config.patch});
  embed.bias = at::randn({config.width});
  embed.pos_embed =
      at::randn({1, config.position_prefix + config.position_grid.count(), config.width});
  if (config.class_token) embed.cls_token = at::randn({1, 1, config.width});
  if (config.registers > 0) embed.reg_token = at::randn({1, config.registers, config.width});
  return embed;
}

TEST(PatchEmbedding, IsTheConvolutionOfThePapers) {
  const Config config = tests::tiny_config();
  const PatchEmbedding embed = embedding(config);
  const at::Tensor pixels = at::randn({2, 3, 8, 12});
  const at::Tensor tokens = embed.forward(pixels, config);
  const at::Tensor convolved =
      at::conv2d(pixels, embed.weight, embed.bias, config.patch).flatten(2).transpose(1, 2);
  ASSERT_EQ(tokens.sizes(), (std::vector<std::int64_t>{2, 7, 12}));
  EXPECT_LT(largest_difference(tokens.slice(1, 1), convolved + embed.pos_embed.slice(1, 1)), 1e-5);
  EXPECT_LT(largest_difference(tokens[1][0], embed.cls_token[0][0] + embed.pos_embed[0][0]), 1e-6);
}

TEST(PatchEmbedding, RegistersFollowTheClassTokenWithoutPositions) {
  Config config = tests::tiny_config();
  config.registers = 2;
  const PatchEmbedding embed = embedding(config);
  const at::Tensor tokens = embed.forward(at::randn({1, 3, 8, 12}), config);
  ASSERT_EQ(tokens.size(1), 1 + 2 + 6);
  EXPECT_LT(largest_difference(tokens[0][0], embed.cls_token[0][0] + embed.pos_embed[0][0]), 1e-6);
  EXPECT_TRUE(at::equal(tokens[0].slice(0, 1, 3), embed.reg_token[0]));
}

TEST(PatchEmbedding, RegistersCanHavePositionsToo) {
  Config config = tests::tiny_config();
  config.registers = 2;
  config.position_prefix = 3;
  const PatchEmbedding embed = embedding(config);
  const at::Tensor tokens = embed.forward(at::randn({1, 3, 8, 12}), config);
  EXPECT_LT(largest_difference(tokens[0].slice(0, 1, 3),
                               embed.reg_token[0] + embed.pos_embed[0].slice(0, 1, 3)),
            1e-6);
}

TEST(PatchEmbedding, WorksWithoutPrefixTokens) {
  Config config = tests::tiny_config();
  config.class_token = false;
  config.position_prefix = 0;
  EXPECT_EQ(embedding(config).forward(at::randn({1, 3, 8, 12}), config).size(1), 6);
}

TEST(InterpolatePositions, LeavesTheOwnGridAlone) {
  const at::Tensor positions = at::randn({1, 7, 12});
  EXPECT_TRUE(interpolate_positions(positions, 1, {2, 3}, {2, 3}, PositionInterpolation::bicubic)
                  .is_same(positions));
}

/// Bicubic kernel of Keys (1981) with parameter a.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

/// One output sample of a row, by the definition: without antialias, edges repeated.
double plain_sample(const std::vector<double>& row, int outputs, int i) {
  const double centre = (i + 0.5) * static_cast<double>(row.size()) / outputs - 0.5;
  const int base = static_cast<int>(std::floor(centre));
  double sum = 0;
  for (int tap = base - 1; tap <= base + 2; ++tap) {
    const int clamped = std::clamp(tap, 0, static_cast<int>(row.size()) - 1);
    sum += cubic(centre - tap, -0.75) * row[static_cast<std::size_t>(clamped)];
  }
  return sum;
}

/// With antialias: support grows with the scale, weights normalised inside the row.
double antialiased_sample(const std::vector<double>& row, int outputs, int i) {
  const double scale = static_cast<double>(row.size()) / outputs;
  const double stretch = std::max(scale, 1.0);
  const double centre = (i + 0.5) * scale;
  double sum = 0;
  double weights = 0;
  for (std::size_t tap = 0; tap < row.size(); ++tap) {
    const double weight = cubic((static_cast<double>(tap) + 0.5 - centre) / stretch, -0.5);
    sum += weight * row[tap];
    weights += weight;
  }
  return sum / weights;
}

TEST(InterpolatePositions, FollowsEachFamilysRule) {
  const std::vector<double> row{0.3, -1.2, 2.0, 0.7, -0.4};
  at::Tensor positions = at::zeros({1, 1 + 5, 1});
  for (int i = 0; i < 5; ++i) positions[0][1 + i][0] = row[static_cast<std::size_t>(i)];
  positions[0][0][0] = 9;
  for (const int columns : {3, 8}) {
    const at::Tensor plain =
        interpolate_positions(positions, 1, {1, 5}, {1, columns}, PositionInterpolation::bicubic);
    const at::Tensor smooth = interpolate_positions(positions, 1, {1, 5}, {1, columns},
                                                    PositionInterpolation::bicubic_antialias);
    ASSERT_EQ(plain.size(1), 1 + columns);
    EXPECT_EQ(plain[0][0][0].item<float>(), 9) << "the class token's position is kept";
    for (int i = 0; i < columns; ++i) {
      EXPECT_NEAR(plain[0][1 + i][0].item<float>(), plain_sample(row, columns, i), 1e-6);
      EXPECT_NEAR(smooth[0][1 + i][0].item<float>(), antialiased_sample(row, columns, i), 1e-6);
    }
  }
}

TEST(PatchGrid, NamesASideThatIsNoMultiple) {
  const Config config = tests::tiny_config();
  EXPECT_EQ(patch_grid(config, 8, 12), (Grid{2, 3}));
  EXPECT_THROW(patch_grid(config, 8, 13), std::invalid_argument);
  EXPECT_THROW(patch_grid(config, 0, 12), std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::model
