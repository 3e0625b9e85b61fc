#include "vit/explain/perturbation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <memory>

#include "vit/error.h"
#include "vit/explain/random_numbers.h"

namespace vitascope::explain {
namespace {

/// Where squares begin along a side: every `stride` pixels until one reaches the end.
std::vector<std::int64_t> starts(std::int64_t side, const OcclusionOptions& options) {
  std::vector<std::int64_t> result{0};
  while (result.back() + options.edge < side) result.push_back(result.back() + options.stride);
  return result;
}

at::Tensor class_indices(const std::vector<std::int64_t>& classes) {
  return at::tensor(classes, at::kLong);
}

/// The part of `maps` [..., H, W] under the square; slicing ends at the border by itself.
at::Tensor under(const at::Tensor& maps, std::int64_t top, std::int64_t left, std::int64_t edge) {
  return maps.slice(-2, top, top + edge).slice(-1, left, left + edge);
}

}  // namespace

at::Tensor occlusion(const Scores& scores, const at::Tensor& pixels,
                     const std::vector<std::int64_t>& classes, const OcclusionOptions& options,
                     const Batching& batching) {
  if (options.stride < 1 || options.stride > options.edge) {
    throw UsageError("occlusion: a stride of " + std::to_string(options.stride) +
                     " pixels: expected 1 to the square's edge, " + std::to_string(options.edge));
  }
  const std::vector<std::int64_t> rows = starts(pixels.size(2), options);
  const std::vector<std::int64_t> columns = starts(pixels.size(3), options);
  const auto across = static_cast<std::int64_t>(columns.size());
  const std::int64_t squares = static_cast<std::int64_t>(rows.size()) * across;
  const auto covered = [&](const at::Tensor& maps, std::int64_t square) {
    return under(maps, rows[static_cast<std::size_t>(square / across)],
                 columns[static_cast<std::size_t>(square % across)], options.edge);
  };
  const at::Tensor colour = at::tensor(at::ArrayRef<float>(options.colour)).view({3, 1, 1});
  const at::Tensor chosen = class_indices(classes);
  const auto kinds = static_cast<std::int64_t>(classes.size());
  at::Tensor drops = at::zeros({kinds, pixels.size(2), pixels.size(3)}, at::kDouble);
  at::Tensor times = at::zeros({pixels.size(2), pixels.size(3)}, at::kDouble);
  at::Tensor whole;  // [classes, 1, 1]: the first picture is the photo itself
  const auto picture = [&](std::int64_t index) {
    if (index == 0) return pixels;
    at::Tensor hidden = pixels.clone();
    covered(hidden, index - 1).copy_(colour);
    return hidden;
  };
  const auto take = [&](std::int64_t first, const at::Tensor& answers) {
    const at::Tensor wanted = answers.index_select(1, chosen);
    for (std::int64_t i = 0; i < wanted.size(0); ++i) {
      const at::Tensor score = wanted[i].view({kinds, 1, 1});
      if (first + i == 0) {
        whole = score;
        continue;
      }
      covered(drops, first + i - 1).add_(whole - score);
      covered(times, first + i - 1).add_(1);
    }
  };
  score_in_batches(scores, squares + 1, picture, batching, take);
  return drops / times;
}

at::Tensor rise(const Scores& probabilities, const at::Tensor& pixels,
                const std::vector<std::int64_t>& classes, const Masks& masks, std::int64_t count,
                double keep, const Batching& batching) {
  const std::int64_t height = pixels.size(2);
  const std::int64_t width = pixels.size(3);
  const at::Tensor chosen = class_indices(classes);
  at::Tensor sum =
      at::zeros({static_cast<std::int64_t>(classes.size()), height * width}, at::kDouble);
  std::vector<at::Tensor> seen;  // the masks of one batch
  const auto picture = [&](std::int64_t index) {
    seen.push_back(masks(index));
    return pixels * seen.back().to(pixels.options());
  };
  const auto take = [&](std::int64_t, const at::Tensor& answers) {
    const at::Tensor flat = at::stack(seen).to(at::kCPU, at::kDouble).view({-1, height * width});
    sum.addmm_(answers.index_select(1, chosen).t(), flat);
    seen.clear();
  };
  score_in_batches(probabilities, count, picture, batching, take);
  return sum.view({-1, height, width}) / (static_cast<double>(count) * keep);
}

at::Tensor rise(const Scores& probabilities, const at::Tensor& pixels,
                const std::vector<std::int64_t>& classes, const RiseOptions& options,
                const Batching& batching) {
  return rise(probabilities, pixels, classes, rise_masks(options, pixels.size(2), pixels.size(3)),
              options.masks, options.keep, batching);
}

Masks rise_masks(const RiseOptions& options, std::int64_t height, std::int64_t width) {
  if (options.cells < 1 || !(options.keep > 0 && options.keep <= 1)) {
    throw UsageError("RISE: " + std::to_string(options.cells) +
                     " cells, visible with probability " + std::to_string(options.keep) +
                     ": expected 1 cell or more, and a probability above 0, at most 1");
  }
  // A std::function is copied; the numbers must go on all the same.
  const auto random = std::make_shared<RandomNumbers>(options.seed);
  return [=](std::int64_t) {
    std::vector<float> visible(static_cast<std::size_t>(options.cells * options.cells));
    for (float& cell : visible) cell = random->uniform() < options.keep ? 1.0f : 0.0f;
    const std::int64_t top = random->below((height + options.cells - 1) / options.cells);
    const std::int64_t left = random->below((width + options.cells - 1) / options.cells);
    return rise_mask(at::tensor(visible).view({options.cells, options.cells}), top, left, height,
                     width);
  };
}

at::Tensor rise_mask(const at::Tensor& cells, std::int64_t top, std::int64_t left,
                     std::int64_t height, std::int64_t width) {
  const std::int64_t count = cells.size(0);
  const std::int64_t cell_height = (height + count - 1) / count;
  const std::int64_t cell_width = (width + count - 1) / count;
  const at::Tensor large = at::upsample_bilinear2d(
      cells.view({1, 1, count, count}), {(count + 1) * cell_height, (count + 1) * cell_width},
      /*align_corners=*/false);
  return large[0][0].slice(0, top, top + height).slice(1, left, left + width);
}

at::Tensor cell_pixels(const at::Tensor& pixels, std::int64_t index, std::int64_t rows,
                       std::int64_t columns) {
  const std::int64_t height = pixels.size(-2);
  const std::int64_t width = pixels.size(-1);
  if (height % rows != 0 || width % columns != 0) {
    throw std::invalid_argument("a grid of " + std::to_string(rows) + " x " +
                                std::to_string(columns) + " cells does not fit pixels of " +
                                std::to_string(height) + " x " + std::to_string(width));
  }
  return pixels.narrow(-2, index / columns * (height / rows), height / rows)
      .narrow(-1, index % columns * (width / columns), width / columns);
}

at::Tensor cell_means(const at::Tensor& maps, std::int64_t rows, std::int64_t columns) {
  return at::adaptive_avg_pool2d(maps, {rows, columns});
}

}  // namespace vitascope::explain
