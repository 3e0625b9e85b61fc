#include "vit/image/augment.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "vit/error.h"
#include "vit/image/colour.h"
#include "vit/image/preprocess.h"
#include "vit/image/rand_augment.h"

namespace vitascope::image {
namespace {

/// The mean of the training pictures, which says least about a picture.
std::array<std::uint8_t, 3> fill_colour(const Specification& specification) {
  std::array<std::uint8_t, 3> colour{};
  for (std::size_t c = 0; c < 3; ++c)
    colour[c] = static_cast<std::uint8_t>(
        std::clamp(std::nearbyint(255.0 * specification.mean[c]), 0.0, 255.0));
  return colour;
}

void jitter(Picture& picture, const Augmentation& augmentation, RandomStream& random) {
  std::array<int, 4> order{0, 1, 2, 3};
  random.shuffle(order);
  const auto factor = [&](double range) {
    return random.uniform(std::max(0.0, 1 - range), 1 + range);
  };
  for (const int step : order) {
    if (step == 0 && augmentation.brightness > 0)
      adjust_brightness(picture, factor(augmentation.brightness));
    if (step == 1 && augmentation.contrast > 0)
      adjust_contrast(picture, factor(augmentation.contrast));
    if (step == 2 && augmentation.saturation > 0)
      adjust_saturation(picture, factor(augmentation.saturation));
    if (step == 3 && augmentation.hue > 0)
      adjust_hue(picture, random.uniform(-augmentation.hue, augmentation.hue));
  }
}

Picture part_or_whole(const Picture& picture, const std::optional<Region>& part,
                      const Specification& specification) {
  if (!part) return prepare_bytes(picture, specification);
  const auto size = output_size(specification);
  if (!size)
    throw UsageError(
        "a random crop needs an input size, and this model's depends on the picture; "
        "--input-size sets one");
  return crop_resized(picture, *part, *size, specification.filter);
}

/// Normal noise over a rectangle of [C, H, W].
void fill(at::Tensor& pixels, const Region& region, EraseWith with, RandomStream& random) {
  const std::int64_t height = pixels.size(1);
  const std::int64_t width = pixels.size(2);
  auto* data = pixels.data_ptr<float>();
  for (std::int64_t c = 0; c < pixels.size(0); ++c) {
    const float colour = with == EraseWith::colour ? static_cast<float>(random.normal()) : 0.0f;
    for (int y = region.top; y < region.top + region.size.height; ++y)
      for (int x = region.left; x < region.left + region.size.width; ++x)
        data[(c * height + y) * width + x] =
            with == EraseWith::noise ? static_cast<float>(random.normal()) : colour;
  }
}

}  // namespace

std::optional<Region> draw_part(Size size, const Augmentation& augmentation, RandomStream& random) {
  if (!augmentation.crop) return std::nullopt;
  return random_crop(size, *augmentation.crop, random);
}

at::Tensor augment(const Picture& picture, const std::optional<Region>& part,
                   const Augmentation& augmentation, const Specification& specification,
                   RandomStream& random) {
  Picture changed = part_or_whole(picture, part, specification);
  if (random.happens(augmentation.flip)) flip_horizontally(changed);
  if (augmentation.policy == Policy::rand_augment)
    rand_augment(changed, augmentation.operations, augmentation.magnitude,
                 {Sampling::bilinear, fill_colour(specification)}, random);
  if (augmentation.policy == Policy::three_augment) three_augment(changed, random);
  jitter(changed, augmentation, random);
  at::Tensor pixels = normalised(changed, specification);
  if (random.happens(augmentation.erase)) random_erase(pixels, augmentation.erase_with, random);
  return pixels;
}

std::optional<Region> random_erase(at::Tensor& pixels, EraseWith with, RandomStream& random) {
  const int height = static_cast<int>(pixels.size(1));
  const int width = static_cast<int>(pixels.size(2));
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = random.uniform(0.02, 1.0 / 3) * height * width;
    const double aspect = std::exp(random.uniform(std::log(0.3), std::log(1 / 0.3)));
    const Size size{static_cast<int>(std::nearbyint(std::sqrt(area / aspect))),
                    static_cast<int>(std::nearbyint(std::sqrt(area * aspect)))};
    if (size.width >= width || size.height >= height) continue;
    const int top = static_cast<int>(random.below(height - size.height + 1));
    const int left = static_cast<int>(random.below(width - size.width + 1));
    const Region region{left, top, size};
    fill(pixels, region, with, random);
    return region;
  }
  return std::nullopt;
}

}  // namespace vitascope::image
