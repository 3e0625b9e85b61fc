#include "app/pixel_attempts.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "vit/image/orientation.h"
#include "vit/image/preprocess.h"

namespace vitascope::app {
namespace {

using image::CropOffset;
using image::Filter;
using image::Geometry;
using image::Picture;
using image::ResizeMode;
using image::Size;
using image::Specification;

at::Tensor bytes_of(const Picture& picture) {
  return at::from_blob(const_cast<std::uint8_t*>(picture.rgb.data()),
                       {picture.size.height, picture.size.width, 3}, at::TensorOptions(at::kByte))
      .permute({2, 0, 1});
}

at::Tensor prepared(const Picture& picture, const Specification& specification) {
  return levels_of(image::prepare_bytes(picture, specification));
}

// The crop of a resized picture [3, h, w], padded with black where it sticks out.
at::Tensor crop(const at::Tensor& resized, const Geometry& geometry) {
  const std::int64_t height = resized.size(1), width = resized.size(2);
  const std::int64_t right = geometry.left + geometry.output.width - width;
  const std::int64_t bottom = geometry.top + geometry.output.height - height;
  return at::constant_pad_nd(resized, {-geometry.left, right, -geometry.top, bottom}, 0)
      .contiguous();
}

// How LibTorch's own resampling is asked for; torchvision calls the same functions.
enum class Resampling { bytes_antialiased, rounded_antialiased, float_antialiased, float_plain };

at::Tensor resample(const Picture& picture, Size target, Filter filter, Resampling how) {
  at::Tensor input = bytes_of(picture).unsqueeze(0);
  if (how != Resampling::bytes_antialiased) input = input.to(at::kFloat);
  const std::array<std::int64_t, 2> size{target.height, target.width};
  const bool cubic = filter == Filter::bicubic;
  at::Tensor output;
  if (how != Resampling::float_plain) {
    output = cubic ? at::_upsample_bicubic2d_aa(input, size, false)
                   : at::_upsample_bilinear2d_aa(input, size, false);
  } else if (filter == Filter::nearest) {
    output = at::upsample_nearest2d(input, size);
  } else {
    output = cubic ? at::upsample_bicubic2d(input, size, false)
                   : at::upsample_bilinear2d(input, size, false);
  }
  if (how == Resampling::rounded_antialiased) output = output.round().clamp(0, 255);
  return output.squeeze(0).to(at::kFloat);
}

class Attempts {
 public:
  Attempts(const Picture& picture, const Specification& specification)
      : picture_(picture),
        specification_(specification),
        geometry_(image::geometry(specification, picture.size)) {}

  std::vector<Attempt> all() {
    add_resampling();
    add_crops();
    add_filters();
    add_resizes();
    add_orientations();
    return std::move(attempts_);
  }

 private:
  void add(std::vector<Cause> causes, std::function<at::Tensor()> levels) {
    attempts_.push_back({std::move(causes), std::move(levels)});
  }

  void add_resampled(std::vector<Cause> causes, Filter filter, Resampling how) {
    add(std::move(causes), [this_ = *this, filter, how] {
      const Geometry& geometry = this_.geometry_;
      return crop(resample(this_.picture_, geometry.resized, filter, how), geometry);
    });
  }

  void add_specification(Cause cause, Specification changed) {
    if (changed == specification_) return;
    if (image::geometry(changed, picture_.size).output != geometry_.output) return;
    add({std::move(cause)}, [&picture = picture_, changed] { return prepared(picture, changed); });
  }

  bool resizes() const { return geometry_.resized != picture_.size; }

  void add_resampling() {
    const Filter filter = specification_.filter;
    if (!resizes() || (filter != Filter::bilinear && filter != Filter::bicubic)) return;
    add_resampled({{"torchvision", "resized by torchvision's back end, which rounds differently"}},
                  filter, Resampling::bytes_antialiased);
    add_resampled({{"torchvision", "resized by torchvision in floating point, then rounded"}},
                  filter, Resampling::rounded_antialiased);
    add_resampled({{"float_resampling",
                    "resized in floating point, not rounded and clipped to 8 bits in between"}},
                  filter, Resampling::float_antialiased);
    add_resampled({{"antialias", fmt::format("resized without antialias ({}, as OpenCV and "
                                             "torch.nn.functional.interpolate do it)",
                                             filter_name(filter))}},
                  filter, Resampling::float_plain);
  }

  void add_crops() {
    if (!specification_.crop) return;
    Specification other = specification_;
    const bool floors = specification_.crop_offset == CropOffset::floor;
    other.crop_offset = floors ? CropOffset::round_half_even : CropOffset::floor;
    const Geometry rounded = image::geometry(other, picture_.size);
    if (rounded.left != geometry_.left || rounded.top != geometry_.top) {
      add_specification({"crop_rounding", fmt::format("the crop's offset {} where we {}",
                                                      floors ? "rounded half to even" : "floored",
                                                      floors ? "floor" : "round half to even")},
                        other);
    }
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        if ((dx != 0 || dy != 0) &&
            (geometry_.left + dx != rounded.left || geometry_.top + dy != rounded.top)) {
          add_shift(dx, dy);
        }
      }
    }
  }

  void add_shift(int dx, int dy) {
    Geometry shifted = geometry_;
    shifted.left += dx;
    shifted.top += dy;
    add({{"crop_shift", fmt::format("the crop starts at x {}, y {} where ours starts at x {}, y {}",
                                    shifted.left, shifted.top, geometry_.left, geometry_.top)}},
        [&picture = picture_, specification = specification_, shifted] {
          Specification uncropped = specification;
          uncropped.crop.reset();
          return crop(prepared(picture, uncropped), shifted);
        });
  }

  void add_filters() {
    if (!resizes()) return;
    const char* own = filter_name(specification_.filter);
    for (const Filter filter : {Filter::bicubic, Filter::bilinear, Filter::lanczos, Filter::nearest,
                                Filter::box, Filter::hamming}) {
      Specification other = specification_;
      other.filter = filter;
      const Cause cause{"filter", fmt::format("resized with {} where the model's files say {}",
                                              filter_name(filter), own)};
      add_specification(cause, other);
      if (filter != specification_.filter &&
          (filter == Filter::bicubic || filter == Filter::bilinear || filter == Filter::nearest)) {
        add_resampled({cause, {"antialias", "resized without antialias"}}, filter,
                      Resampling::float_plain);
      }
    }
  }

  void add_resizes() {
    const Size output = geometry_.output;
    Specification squash = specification_;
    squash.resize = ResizeMode::squash;
    squash.size = output;
    squash.crop.reset();
    add_specification({"resize", "squashed to the input size, the aspect lost, nothing cropped"},
                      squash);
    for (const double share : {1.0, 0.875, 0.9, 0.95}) {
      Specification shortest = specification_;
      shortest.resize = ResizeMode::shortest_edge;
      shortest.edge = int(std::min(output.width, output.height) / share);
      shortest.crop = output;
      add_specification(
          {"resize", fmt::format("shortest edge to {}, then the centre cropped", shortest.edge)},
          shortest);
    }
  }

  void add_orientations() {
    constexpr std::array inverse{1, 1, 2, 3, 4, 5, 8, 7, 6};
    const int undone = inverse.at(std::size_t(std::clamp(picture_.orientation, 1, 8)));
    if (undone != 1) {
      add_turned(undone, fmt::format("the photo's EXIF orientation {} was not applied",
                                     picture_.orientation));
    }
    constexpr std::array names{
        "mirrored",         "turned by 180 degrees", "mirrored vertically", "transposed",
        "turned clockwise", "transversed",           "turned anticlockwise"};
    for (int turn = 2; turn <= 8; ++turn) {
      if (turn == undone) continue;
      add_turned(turn,
                 fmt::format("the photo is {} against ours", names.at(std::size_t(turn - 2))));
    }
  }

  void add_turned(int turn, std::string text) {
    const bool swaps = turn >= 5;
    const Size turned = swaps ? Size{picture_.size.height, picture_.size.width} : picture_.size;
    if (image::geometry(specification_, turned).output != geometry_.output) return;
    add({{"orientation", std::move(text)}},
        [&picture = picture_, &specification = specification_, turn] {
          Picture other = picture;
          image::apply_orientation(other, turn);
          return prepared(other, specification);
        });
  }

  const Picture& picture_;
  const Specification& specification_;
  Geometry geometry_;
  std::vector<Attempt> attempts_;
};

}  // namespace

at::Tensor levels_of(const Picture& picture) {
  return bytes_of(picture).to(at::kFloat).contiguous();
}

std::vector<Attempt> attempts(const Picture& picture, const Specification& specification) {
  return Attempts(picture, specification).all();
}

}  // namespace vitascope::app
