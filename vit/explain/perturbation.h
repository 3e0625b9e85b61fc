#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "vit/explain/batches.h"

/// \file
/// Maps made by hiding parts of a photo and asking the model again. No gradient, no attention: any
/// model will do. Maps lie over the network's input, `classes` after each other, float64 on the
/// CPU.
namespace vitascope::explain {

/// What hides, and where it is put.
struct OcclusionOptions {
  std::int64_t edge = 16;         ///< of the square, in input pixels
  std::int64_t stride = 16;       ///< from one square to the next; at most `edge`
  std::array<float, 3> colour{};  ///< in normalised pixels: 0 is the model's mean colour
};

/// Occlusion (Zeiler & Fergus 2014, arXiv:1311.2901): the score of the photo minus the score with a
/// square painted over. Squares stand every `stride` pixels until one reaches the border, which
/// cuts it off; a pixel under several squares gets the mean of their drops. \param scores logits,
/// or probabilities \param pixels [1, 3, H, W] \return [classes, H, W] \throws
/// std::invalid_argument when a stride leaves pixels that no square covers
at::Tensor occlusion(const Scores& scores, const at::Tensor& pixels,
                     const std::vector<std::int64_t>& classes, const OcclusionOptions& options,
                     const Batching& batching = {});

/// A soft mask [H, W] in 0 .. 1, by index.
using Masks = std::function<at::Tensor(std::int64_t index)>;

/// RISE (Petsiuk et al. 2018, arXiv:1806.07421): sum_m p_c(photo * mask_m) mask_m / (M keep), where
/// `keep` is the mean of a mask. Masks are asked for in order, and no more than a batch of them
/// lives at a time.
/// \param pixels [1, 3, H, W]
/// \return [classes, H, W]
at::Tensor rise(const Scores& probabilities, const at::Tensor& pixels,
                const std::vector<std::int64_t>& classes, const Masks& masks, std::int64_t count,
                double keep, const Batching& batching = {});

/// How RISE's masks are made. The defaults are the paper's, but for its 8000 masks.
struct RiseOptions {
  std::int64_t masks = 4000;
  std::int64_t cells = 7;  ///< along each side
  double keep = 0.5;       ///< how often a cell stays visible
  std::uint64_t seed = 0;
};

/// RISE with seeded masks of its own.
at::Tensor rise(const Scores& probabilities, const at::Tensor& pixels,
                const std::vector<std::int64_t>& classes, const RiseOptions& options,
                const Batching& batching = {});

/// Random masks, a new one a call: cells that are visible with probability `keep`, enlarged and cut
/// out at a random place.
/// \throws UsageError when there is no cell, or none would ever be visible
Masks rise_masks(const RiseOptions& options, std::int64_t height, std::int64_t width);

/// One mask of RISE: `cells` [c, c] enlarged bilinearly by one cell more than the photo needs, cut
/// out from row `top` and column `left` on.
at::Tensor rise_mask(const at::Tensor& cells, std::int64_t top, std::int64_t left,
                     std::int64_t height, std::int64_t width);

/// The pixels of a cell of a grid over [.., H, W], a view. \param index cells are counted row by
/// row \throws std::invalid_argument when rows and columns do not divide H and W
at::Tensor cell_pixels(const at::Tensor& pixels, std::int64_t index, std::int64_t rows,
                       std::int64_t columns);

/// The mean of pixel maps over each cell of a grid: [classes, H, W] -> [classes, rows, columns].
at::Tensor cell_means(const at::Tensor& maps, std::int64_t rows, std::int64_t columns);

}  // namespace vitascope::explain
