#pragma once

#include <array>
#include <optional>
#include <string>

#include "vit/image/filter.h"
#include "vit/image/picture.h"

/// \file
/// How a model wants its pictures. Read once from the model's own files; never guessed by a
/// command.
namespace vitascope::image {

enum class ResizeMode {
  none,           ///< the picture is taken as it is
  squash,         ///< to `size`, losing the aspect
  shortest_edge,  ///< shortest edge to `edge`, the long one floor(edge * long / short)
  longest_edge,   ///< fits inside `size` (timm crop_mode 'border'), the rest padded with the mean
  cover           ///< keeps the aspect and just covers `size` (timm crop_mode 'center', not square)
};

/// The offset of a centre crop where the margin is odd: transformers floors (size - crop) / 2,
/// torchvision and timm round it half to even.
enum class CropOffset { floor, round_half_even };

/// Everything between a decoded photo and the tensor that the network sees.
struct Specification {
  ResizeMode resize = ResizeMode::squash;
  Size size;     ///< target of squash, longest_edge and cover
  int edge = 0;  ///< target of shortest_edge
  Filter filter = Filter::bilinear;
  std::optional<Size> crop;  ///< centre crop; a smaller picture is padded with black
  CropOffset crop_offset = CropOffset::floor;
  double crop_pct = 0;  ///< timm's: the part of the resized edge that the crop keeps; 0 for others
  bool rescale = true;
  double rescale_factor = 1.0 / 255.0;
  bool normalise = true;
  std::array<float, 3> mean{0.5f, 0.5f, 0.5f};
  std::array<float, 3> std{0.5f, 0.5f, 0.5f};
  std::string source;  ///< which file and keys it came from, for `info`

  bool operator==(const Specification&) const = default;
};

/// Where a picture of some size ends up: the resized size and the crop inside it.
struct Geometry {
  Size resized;  ///< after resizing
  int left = 0;  ///< of the crop inside the resized picture; negative where it is padded
  int top = 0;
  Size output;  ///< what the network sees
};

/// The arithmetic of sizes, Pillow's and the family's own, in one place. Sizes are at least 1.
Geometry geometry(const Specification& specification, Size picture);

/// The size that the network sees, or nothing when it depends on the picture (resize none, or a
/// shortest edge without a crop).
std::optional<Size> output_size(const Specification& specification);

/// The same specification for another input size: crops and edges scale by the family's rule
/// (`crop_pct` kept), as timm's --img-size and transformers' size/crop_size would. Where only the
/// aspect-keeping resize is given, without a crop, the crop becomes `input`.
Specification with_input_size(const Specification& specification, Size input);

/// The same specification for the whole picture: pressed into the size that the network sees, with
/// nothing cut off at the border and the aspect lost.
/// \throws UsageError when that size depends on the picture (\see output_size)
Specification without_crop(const Specification& specification);

/// The largest input, crop or edge that a specification may ask for.
inline constexpr int kLargestSide = 16384;

/// One line for `vitascope info`: "shortest edge to 256 (bicubic), centre crop 224 x 224, ...".
std::string describe(const Specification& specification);

}  // namespace vitascope::image
