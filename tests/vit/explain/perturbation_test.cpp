#include "vit/explain/perturbation.h"

#include <gmock/gmock.h>

#include <cmath>
#include <stdexcept>

#include "tests/vit/explain/golden_vit.h"
#include "vit/error.h"

namespace vitascope::explain {
namespace {

using tests::expect_close;
using tests::GoldenVit;
using tests::kRelative;

constexpr double kOcclusion = 5e-5;

class GoldenPerturbation : public testing::TestWithParam<const char*> {
 protected:
  GoldenPerturbation() : model_(GetParam()) {}

  /// The grid's map of the class, out of maps over pixels.
  at::Tensor map(const at::Tensor& pixels, std::size_t place) const {
    return cell_means(pixels, model_.grid().rows, model_.grid().columns)[static_cast<int>(place)];
  }

  void expect_maps(const at::Tensor& maps, const std::string& key, double relative) const {
    for (std::size_t i = 0; i < model_.classes().size(); ++i) {
      const std::string named = key + ".class" + std::to_string(model_.classes()[i]);
      SCOPED_TRACE(named);
      expect_close(map(maps, i), model_[named], relative);
    }
  }

  GoldenVit model_;
};

TEST_P(GoldenPerturbation, OcclusionByPatches) {
  const OcclusionOptions patches{.edge = model_.network.config().patch,
                                 .stride = model_.network.config().patch};
  const auto logits = [&](const at::Tensor& pixels) { return model_.logits(pixels); };
  const auto probabilities = [&](const at::Tensor& pixels) { return model_.probabilities(pixels); };
  for (const std::int64_t batch : {1, 3, 64}) {
    const Batching batching{.size = batch};
    expect_maps(occlusion(logits, model_["image"], model_.classes(), patches, batching),
                "map.occlusion_logit", kOcclusion);
    expect_maps(occlusion(probabilities, model_["image"], model_.classes(), patches, batching),
                "map.occlusion_prob", kOcclusion);
  }
}

TEST_P(GoldenPerturbation, RiseOverGivenMasks) {
  const at::Tensor masks = model_["rise.masks"];
  const auto probabilities = [&](const at::Tensor& pixels) { return model_.probabilities(pixels); };
  for (const std::int64_t batch : {1, 7}) {
    const at::Tensor maps = rise(probabilities, model_["image"], model_.classes(),
                                 [&](std::int64_t index) { return masks[index]; }, masks.size(0),
                                 model_.description().at("rise").at("p"), {.size = batch});
    expect_close(maps[0], model_["rise.pixels.class" + std::to_string(model_.classes()[0])],
                 kRelative);
    expect_maps(maps, "map.rise", kRelative);
  }
}

/// Whether some cells and some place give this mask.
bool can_be_made(const at::Tensor& mask, std::int64_t cells) {
  const std::int64_t height = mask.size(0);
  const std::int64_t width = mask.size(1);
  for (std::int64_t top = 0; top < (height + cells - 1) / cells; ++top) {
    for (std::int64_t left = 0; left < (width + cells - 1) / cells; ++left) {
      // A mask is linear in its cells: what each cell alone gives, then least squares.
      std::vector<at::Tensor> alone;
      for (std::int64_t cell = 0; cell < cells * cells; ++cell) {
        at::Tensor one = at::zeros({cells * cells});
        one[cell] = 1;
        alone.push_back(rise_mask(one.view({cells, cells}), top, left, height, width).flatten());
      }
      const at::Tensor matrix = at::stack(alone, 1).to(at::kDouble);
      const at::Tensor target = mask.flatten().to(at::kDouble);
      const at::Tensor found = at::linalg_pinv(matrix).matmul(target).round();
      if ((matrix.matmul(found) - target).abs().max().item<double>() < 1e-6) return true;
    }
  }
  return false;
}

TEST_P(GoldenPerturbation, MasksAreMadeAsTheGoldenOnes) {
  const std::int64_t cells = model_.description().at("rise").at("cells");
  for (std::int64_t index = 0; index < 5; ++index) {
    EXPECT_TRUE(can_be_made(model_["rise.masks"][index], cells)) << index;
  }
}

VITASCOPE_FOR_GOLDEN_VITS(GoldenPerturbation);

/// Scores that a hand can follow: class 0 is the sum of the red pixels, class 1 of the blue ones.
at::Tensor red_and_blue(const at::Tensor& pixels) {
  const at::Tensor sums = pixels.sum({2, 3});
  return at::stack({sums.select(1, 0), sums.select(1, 2)}, 1);
}

TEST(Occlusion, MeansTheDropsOfSquaresThatOverlap) {
  // One row of red 1, 2, 4, 8; squares of 2 pixels at 0, 1, 2 take away 3, 6 and 12.
  const at::Tensor pixels = at::zeros({1, 3, 1, 4});
  pixels[0][0][0].copy_(at::tensor({1., 2., 4., 8.}));
  const at::Tensor map = occlusion(red_and_blue, pixels, {0}, {.edge = 2, .stride = 1});
  expect_close(map[0][0], at::tensor({3., 4.5, 9., 12.}), 1e-12);
}

TEST(Occlusion, CutsTheLastSquareAtTheBorder) {
  const at::Tensor pixels = at::zeros({1, 3, 1, 5});
  pixels[0][0][0].copy_(at::tensor({1., 2., 4., 8., 16.}));
  const at::Tensor map = occlusion(red_and_blue, pixels, {0}, {.edge = 3, .stride = 3});
  expect_close(map[0][0], at::tensor({7., 7., 7., 24., 24.}), 1e-12);
}

TEST(Occlusion, PaintsTheGivenColourAndKeepsClassesApart) {
  const at::Tensor pixels = at::ones({1, 3, 2, 2});
  const at::Tensor map =
      occlusion(red_and_blue, pixels, {1, 0}, {.edge = 2, .stride = 2, .colour = {3, 9, -1}});
  expect_close(map, at::tensor({8., -8.}).view({2, 1, 1}).expand({2, 2, 2}), 1e-12);
}

TEST(Occlusion, RefusesAStrideThatSkipsPixels) {
  const at::Tensor pixels = at::zeros({1, 3, 4, 4});
  EXPECT_THROW(occlusion(red_and_blue, pixels, {0}, {.edge = 2, .stride = 3}), UsageError);
  EXPECT_THROW(occlusion(red_and_blue, pixels, {0}, {.edge = 2, .stride = 0}), UsageError);
}

TEST(Rise, RefusesMasksThatHideAll) {
  EXPECT_THROW(rise_masks({.keep = 0}, 16, 16), UsageError);
  EXPECT_THROW(rise_masks({.cells = 0}, 16, 16), UsageError);
}

TEST(Rise, MasksDependOnTheSeedAlone) {
  const auto mask = [](std::uint64_t seed, int index) {
    const Masks masks = rise_masks({.cells = 3, .seed = seed}, 12, 20);
    at::Tensor last;
    for (int i = 0; i <= index; ++i) last = masks(i);
    return last;
  };
  EXPECT_TRUE(mask(1, 2).equal(mask(1, 2)));
  EXPECT_FALSE(mask(1, 2).equal(mask(1, 1)));
  EXPECT_FALSE(mask(1, 2).equal(mask(2, 2)));
}

TEST(Rise, MasksKeepTheirShareVisible) {
  const Masks masks = rise_masks({.cells = 4, .keep = 0.3}, 16, 16);
  at::Tensor mean = at::zeros({16, 16});
  constexpr int kCount = 2000;
  for (int i = 0; i < kCount; ++i) mean += masks(i) / kCount;
  // The standard error of a pixel is at most sqrt(.3 * .7 / 2000) = .0103.
  EXPECT_LT((mean - 0.3).abs().max().item<double>(), 0.05);
}

TEST(Rise, FindsTheBrightSquare) {
  // The answer is the brightness of one cell, so the map must be largest there.
  at::Tensor pixels = at::full({1, 3, 16, 16}, 1.0);
  const auto bright = [](const at::Tensor& seen) {
    return seen.slice(2, 4, 8).slice(3, 8, 12).mean({1, 2, 3}).unsqueeze(1);
  };
  const at::Tensor maps = rise(bright, pixels, {0}, {.masks = 500, .cells = 4, .seed = 5});
  EXPECT_EQ(cell_means(maps, 4, 4).argmax().item<std::int64_t>(), 1 * 4 + 2);
}

TEST(Batches, ReportProgressAndEndWhenItThrows) {
  const at::Tensor pixels = at::zeros({1, 3, 2, 4});
  std::vector<std::pair<std::int64_t, std::int64_t>> reports;
  const OcclusionOptions squares{.edge = 1, .stride = 1};
  Batching batching{.size = 4, .progress = [&](std::int64_t done, std::int64_t all) {
                      reports.emplace_back(done, all);
                    }};
  occlusion(red_and_blue, pixels, {0}, squares, batching);
  EXPECT_THAT(reports, testing::ElementsAre(std::pair(4, 9), std::pair(8, 9), std::pair(9, 9)));

  int asked = 0;
  const auto counted = [&](const at::Tensor& seen) {
    ++asked;
    return red_and_blue(seen);
  };
  batching.progress = [](std::int64_t, std::int64_t) { throw std::runtime_error("stop"); };
  EXPECT_THROW(occlusion(counted, pixels, {0}, squares, batching), std::runtime_error);
  EXPECT_EQ(asked, 1);
  EXPECT_THROW(occlusion(counted, pixels, {0}, squares, {.size = 0}), std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::explain
