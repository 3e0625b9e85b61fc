#include "vit/train/mixup.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "vit/error.h"

namespace vitascope::train {
namespace {

/// What of `side` an edge of `length` around `centre` covers.
std::pair<std::int64_t, std::int64_t> covered(std::int64_t side, std::int64_t length,
                                              std::int64_t centre) {
  return {std::max<std::int64_t>(centre - length / 2, 0), std::min(centre + length / 2, side)};
}

Mix draw_box(double lambda, std::int64_t height, std::int64_t width, RandomNumbers& random) {
  const double edge = std::sqrt(1 - lambda);
  const auto part = [edge](std::int64_t side) {
    return static_cast<std::int64_t>(static_cast<double>(side) * edge);
  };
  const auto [top, bottom] = covered(height, part(height), random.below(height));
  const auto [left, right] = covered(width, part(width), random.below(width));
  const double area = static_cast<double>((bottom - top) * (right - left));
  return {1 - area / static_cast<double>(height * width), PixelBox{top, left, bottom, right}};
}

at::Tensor blended(const at::Tensor& own, double lambda) {
  return own * lambda + own.flip(0) * (1 - lambda);
}

}  // namespace

void validate(const MixOptions& options) {
  for (const double alpha : {options.mixup_alpha, options.cutmix_alpha}) {
    if (!(alpha >= 0 && std::isfinite(alpha))) {
      throw UsageError(fmt::format("an alpha of mixup or cutmix is {}: expected 0 or more", alpha));
    }
  }
  for (const double p : {options.probability, options.cutmix_probability}) {
    if (!(p >= 0 && p <= 1)) {
      throw UsageError(fmt::format("a probability of mixup or cutmix is {}: expected 0 to 1", p));
    }
  }
}

Mix draw_mix(const MixOptions& options, std::int64_t height, std::int64_t width,
             RandomNumbers& random) {
  const bool mixup = options.mixup_alpha > 0;
  bool cutmix = options.cutmix_alpha > 0;
  if (!(mixup || cutmix) || random.uniform() >= options.probability) return {};
  if (mixup && cutmix) cutmix = random.uniform() < options.cutmix_probability;
  const double alpha = cutmix ? options.cutmix_alpha : options.mixup_alpha;
  const double lambda = random.beta(alpha, alpha);
  return cutmix ? draw_box(lambda, height, width, random) : Mix{lambda};
}

at::Tensor mix_pixels(const at::Tensor& pixels, const Mix& mix) {
  if (mix.lambda == 1) return pixels;
  if (!mix.box) return blended(pixels, mix.lambda);
  const auto inside = [&box = *mix.box](const at::Tensor& all) {
    return all.slice(2, box.top, box.bottom).slice(3, box.left, box.right);
  };
  at::Tensor mixed = pixels.clone();
  inside(mixed).copy_(inside(pixels).flip(0));
  return mixed;
}

at::Tensor mix_targets(const at::Tensor& targets, const Mix& mix) {
  return mix.lambda == 1 ? targets : blended(targets, mix.lambda);
}

}  // namespace vitascope::train
