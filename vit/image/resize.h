#pragma once

#include <cstdint>
#include <vector>

#include "vit/image/filter.h"
#include "vit/image/picture.h"

/// \file
/// Pillow's resampling, bit for bit: an antialiased separable filter whose support grows with the
/// scale, in fixed point, rounded and clipped to 8 bits after each pass. The horizontal pass comes
/// first, except where the height shrinks by more than twice what the width does (since Pillow 13).
namespace vitascope::image {

/// Resizes [size.height, size.width, 3] to `target`. Bicubic has a = -0.5.
/// \throws InternalError when a size is not positive
std::vector<std::uint8_t> resize(const std::uint8_t* rgb, Size size, Size target, Filter filter);

/// A part of a resized picture, in pixels: what a crop keeps.
struct Region {
  int left = 0, top = 0;
  Size size;
};

/// The same picture, of which only `region` is computed: [region.size.height, region.size.width,
/// 3]. \throws InternalError when a size is not positive or the region sticks out of `target`
std::vector<std::uint8_t> resize_region(const std::uint8_t* rgb, Size size, Size target,
                                        Filter filter, Region region);

/// The instruction set that the passes run on: "avx2" or "baseline". AVX2 where the processor has
/// it, unless the environment variable VITASCOPE_CPU_ISA is "baseline"; the bits are the same.
const char* resize_isa();

}  // namespace vitascope::image
