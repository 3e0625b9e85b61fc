#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "vit/random_numbers.h"

/// \file
/// Mixup (Zhang 2018, arXiv:1710.09412) and CutMix (Yun 2019, arXiv:1905.04899) of a batch with
/// itself in reverse order, by timm's rules: one draw a batch.
namespace vitascope::train {

/// An alpha of 0 leaves that kind out.
struct MixOptions {
  double mixup_alpha = 0;
  double cutmix_alpha = 0;
  double probability = 1;           ///< that a batch is mixed at all
  double cutmix_probability = 0.5;  ///< that it is by CutMix, when both are on
};

/// A rectangle of pixels, end excluded.
struct PixelBox {
  std::int64_t top = 0, left = 0, bottom = 0, right = 0;
};

/// How a batch is mixed.
struct Mix {
  double lambda = 1;              ///< share of a sample's own; 1: nothing is mixed
  std::optional<PixelBox> box{};  ///< CutMix: what comes from the other sample
};

/// \throws UsageError when an option is out of range
void validate(const MixOptions& options);

/// Draws lambda from Beta(alpha, alpha). CutMix's box has the share 1 - lambda of the picture's
/// area around a uniform centre, is cut off at the border, and lambda is then what the box leaves.
Mix draw_mix(const MixOptions& options, std::int64_t height, std::int64_t width,
             RandomNumbers& random);

/// lambda x + (1 - lambda) x reversed, or x with the box of x reversed.
/// \param pixels [B, C, H, W]; what is returned may be the same tensor when nothing is mixed
at::Tensor mix_pixels(const at::Tensor& pixels, const Mix& mix);

/// lambda t + (1 - lambda) t reversed.
/// \param targets [B, K]
at::Tensor mix_targets(const at::Tensor& targets, const Mix& mix);

}  // namespace vitascope::train
