#include "vit/image/specification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "vit/error.h"

namespace vitascope::image {
namespace {

/// Python's round(): halves to even, which is the rounding that a program starts with.
std::int64_t round_half_even(double value) { return std::llrint(value); }

/// A side within what int holds, at least 1 pixel.
int side(std::int64_t value) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max() / 2;
  return static_cast<int>(std::clamp<std::int64_t>(value, 1, kMost));
}

/// floor(edge * longer / shorter)
int long_side(int edge, int longer, int shorter) {
  return side(static_cast<std::int64_t>(edge) * longer / shorter);
}

/// The picture divided by one ratio for both sides, each side rounded.
Size divide(Size picture, double ratio) {
  return {side(round_half_even(picture.width / ratio)),
          side(round_half_even(picture.height / ratio))};
}

Size resized_size(const Specification& specification, Size picture) {
  const Size target = specification.size;
  const double wide = static_cast<double>(picture.width) / std::max(target.width, 1);
  const double tall = static_cast<double>(picture.height) / std::max(target.height, 1);
  const int edge = specification.edge;
  switch (specification.resize) {
    case ResizeMode::none:
      return picture;
    case ResizeMode::squash:
      return target;
    case ResizeMode::shortest_edge:
      return picture.width <= picture.height
                 ? Size{edge, long_side(edge, picture.height, picture.width)}
                 : Size{long_side(edge, picture.width, picture.height), edge};
    case ResizeMode::longest_edge:
      return divide(picture, std::max(wide, tall));
    case ResizeMode::cover:
      return divide(picture, std::min(wide, tall));
  }
  throw InternalError("geometry: not a resize mode");
}

/// Where a crop begins; negative where the picture is smaller and is padded.
int crop_start(int from, int crop, CropOffset rule) {
  const int margin = from - crop;
  if (rule == CropOffset::floor)
    return margin >= 0 ? margin / 2 : -((1 - margin) / 2);  // floors below 0, too
  // Padding puts the smaller half first; only a true margin is rounded half to even.
  return margin >= 0 ? static_cast<int>(round_half_even(margin / 2.0)) : -(-margin / 2);
}

/// timm's rule: each side of the resize is floor(side / crop_pct), whatever the mode.
void resize_for_crop(Specification& specification, Size input) {
  const auto enlarged = [&](int value) {
    return side(static_cast<std::int64_t>(std::floor(value / specification.crop_pct)));
  };
  specification.crop = input;
  specification.size = {enlarged(input.width), enlarged(input.height)};
  specification.edge = 0;
  const bool keeps_aspect = specification.resize == ResizeMode::shortest_edge ||
                            specification.resize == ResizeMode::cover;
  if (!keeps_aspect) return;
  specification.resize = ResizeMode::cover;
  if (specification.size.width != specification.size.height) return;
  // For a square timm asks torchvision for the shortest edge, which floors the long one.
  specification.resize = ResizeMode::shortest_edge;
  specification.edge = specification.size.width;
  specification.size = {};
}

/// floor(value * wanted / had)
int scaled(int value, int wanted, int had) {
  return side(static_cast<std::int64_t>(value) * wanted / had);
}

std::string size_text(Size size) { return fmt::format("{} x {}", size.width, size.height); }

}  // namespace

Geometry geometry(const Specification& specification, Size picture) {
  Geometry result;
  result.resized = resized_size(specification, picture);
  result.output = specification.crop.value_or(result.resized);
  result.left = crop_start(result.resized.width, result.output.width, specification.crop_offset);
  result.top = crop_start(result.resized.height, result.output.height, specification.crop_offset);
  return result;
}

std::optional<Size> output_size(const Specification& specification) {
  if (specification.crop) return specification.crop;
  if (specification.resize == ResizeMode::squash) return specification.size;
  return std::nullopt;
}

Specification with_input_size(const Specification& specification, Size input) {
  if (input.width < 1 || input.height < 1 || input.width > kLargestSide ||
      input.height > kLargestSide)
    throw UsageError(
        fmt::format("the input size {} is out of range; expected 1 to {} pixels a side",
                    size_text(input), kLargestSide));
  Specification result = specification;
  if (result.crop_pct > 0) {
    resize_for_crop(result, input);
    return result;
  }
  const Size had = specification.crop.value_or(input);
  switch (specification.resize) {
    case ResizeMode::none:
      break;
    case ResizeMode::squash:
      if (!specification.crop) {
        result.size = input;
        return result;
      }
      [[fallthrough]];
    case ResizeMode::longest_edge:
    case ResizeMode::cover:
      // The margin around the crop keeps its share: 256 to 224 becomes 438 to 384.
      result.size = {scaled(specification.size.width, input.width, had.width),
                     scaled(specification.size.height, input.height, had.height)};
      break;
    case ResizeMode::shortest_edge:
      result.edge = specification.crop
                        ? std::max(scaled(specification.edge, input.width, had.width),
                                   scaled(specification.edge, input.height, had.height))
                        : std::max(input.width, input.height);
      break;
  }
  result.crop = input;
  return result;
}

Specification without_crop(const Specification& specification) {
  const std::optional<Size> size = output_size(specification);
  if (!size) {
    throw UsageError(
        "the size of the model's input depends on the picture: name one to press pictures into");
  }
  Specification result = specification;
  result.resize = ResizeMode::squash;
  result.size = *size;
  result.edge = 0;
  result.crop.reset();
  result.crop_pct = 0;
  return result;
}

std::string describe(const Specification& specification) {
  std::string text;
  const char* filter = filter_name(specification.filter);
  const std::string size = size_text(specification.size);
  switch (specification.resize) {
    case ResizeMode::none:
      text = "not resized";
      break;
    case ResizeMode::squash:
      text = fmt::format("squashed to {} ({})", size, filter);
      break;
    case ResizeMode::shortest_edge:
      text = fmt::format("shortest edge to {} ({})", specification.edge, filter);
      break;
    case ResizeMode::longest_edge:
      text = fmt::format("fitted into {} ({}), padded with the mean", size, filter);
      break;
    case ResizeMode::cover:
      text = fmt::format("scaled to cover {} ({})", size, filter);
      break;
  }
  if (specification.crop) text += ", centre crop " + size_text(*specification.crop);
  if (specification.rescale) {
    const double factor = specification.rescale_factor;
    const bool usual = std::abs(factor * 255 - 1) < 1e-9;
    text += usual ? ", scaled by 1/255" : fmt::format(", scaled by {:g}", factor);
  }
  if (specification.normalise)
    text += fmt::format(", mean {:g} {:g} {:g}, std {:g} {:g} {:g}", specification.mean[0],
                        specification.mean[1], specification.mean[2], specification.std[0],
                        specification.std[1], specification.std[2]);
  return text;
}

}  // namespace vitascope::image
