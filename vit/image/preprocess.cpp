#include "vit/image/preprocess.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "vit/error.h"
#include "vit/image/resize.h"

namespace vitascope::image {
namespace {

/// The most pixels that one prepared picture may have; a network sees far fewer. A shortest edge
/// without a crop makes a strip of 1 x 100000 pixels enormous.
constexpr std::int64_t kMostPixels = 1 << 28;

/// The colour around a picture that is smaller than its crop: black, or timm's mean.
std::array<std::uint8_t, 3> padding(const Specification& specification) {
  std::array<std::uint8_t, 3> colour{};
  if (specification.resize != ResizeMode::longest_edge) return colour;
  for (int c = 0; c < 3; ++c)
    colour[c] = static_cast<std::uint8_t>(
        std::clamp(std::nearbyint(255.0 * specification.mean[c]), 0.0, 255.0));
  return colour;
}

Picture cropped(const Picture& picture, const Specification& specification,
                const Geometry& geometry) {
  const auto [width, height] = geometry.output;
  if (static_cast<std::int64_t>(width) * height > kMostPixels)
    throw InputError(picture.path,
                     fmt::format("would become {} x {} pixels for this model, too many: its sides "
                                 "of {} x {} differ too much",
                                 width, height, picture.size.width, picture.size.height));
  Picture result;
  result.path = picture.path;
  result.size = result.stored = geometry.output;
  // The part of the resized picture that the crop shows.
  const int left = std::max(geometry.left, 0);
  const int top = std::max(geometry.top, 0);
  const int right = std::min(geometry.left + width, geometry.resized.width);
  const int bottom = std::min(geometry.top + height, geometry.resized.height);
  const Region region{left, top, {right - left, bottom - top}};
  auto part = resize_region(picture.rgb.data(), picture.size, geometry.resized,
                            specification.filter, region);
  if (region.size == geometry.output) {
    result.rgb = std::move(part);
    return result;
  }
  const auto colour = padding(specification);
  result.rgb.resize(static_cast<std::size_t>(width) * height * 3);
  for (std::size_t i = 0; i < result.rgb.size(); ++i) result.rgb[i] = colour[i % 3];
  const std::size_t row = static_cast<std::size_t>(region.size.width) * 3;
  for (int y = 0; y < region.size.height; ++y)
    std::memcpy(&result.rgb[(static_cast<std::size_t>(top - geometry.top + y) * width + left -
                             geometry.left) *
                            3],
                &part[y * row], row);
  return result;
}

/// What each 8-bit level becomes: scaled in double and rounded to float as transformers does
/// (timm's division by 255 in float gives the same numbers), then normalised in float.
std::array<float, 256> levels(const Specification& specification, int channel) {
  std::array<float, 256> table{};
  for (int level = 0; level < 256; ++level) {
    float value = static_cast<float>(level);
    if (specification.rescale) value = static_cast<float>(level * specification.rescale_factor);
    if (specification.normalise)
      value = (value - specification.mean[channel]) / specification.std[channel];
    table[level] = value;
  }
  return table;
}

}  // namespace

Picture prepare_bytes(const Picture& picture, const Specification& specification) {
  return cropped(picture, specification, geometry(specification, picture.size));
}

at::Tensor normalised(const Picture& picture, const Specification& specification) {
  const std::int64_t width = picture.size.width;
  const std::int64_t height = picture.size.height;
  at::Tensor pixels = at::empty({3, height, width}, at::kFloat);
  for (int channel = 0; channel < 3; ++channel) {
    const std::array<float, 256> table = levels(specification, channel);
    float* plane = pixels.data_ptr<float>() + channel * height * width;
    const std::uint8_t* in = picture.rgb.data() + channel;
    for (std::int64_t i = 0; i < height * width; ++i) plane[i] = table[in[3 * i]];
  }
  return pixels;
}

Prepared prepare(const Picture& picture, const Specification& specification) {
  const Geometry where = geometry(specification, picture.size);
  Prepared result;
  result.pixels = normalised(cropped(picture, specification, where), specification);
  result.view = View(where, picture.size, picture.stored, picture.orientation);
  return result;
}

}  // namespace vitascope::image
