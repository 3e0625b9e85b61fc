#pragma once

#include <cstdint>

#include "vit/image/resample_coefficients.h"

/// \file
/// The two passes of a resize, for each instruction set. All give the same bits: the sums are of
/// integers and wrap nowhere that matters.
namespace vitascope::image {

/// Rows of RGB: for each output pixel, the weighted sum of input pixels.
struct HorizontalPass {
  const Coefficients* coefficients;
  const std::uint8_t* rows;  ///< the first input row
  std::size_t row_stride;    ///< bytes from one input row to the next
  std::size_t readable;      ///< bytes that may be read from `rows` on
  std::uint8_t* out;         ///< [count, outputs, 3]
  int count;                 ///< rows
};

/// One output row: the weighted sum of `count` input rows of `length` bytes.
struct VerticalPass {
  const std::uint8_t* rows;
  std::size_t row_stride;
  const std::int32_t* weight;
  int count;
  std::size_t length;
  std::uint8_t* out;
};

/// For any processor.
void horizontal_baseline(const HorizontalPass& pass);
/// For any processor.
void vertical_baseline(const VerticalPass& pass);

#if defined(__x86_64__)
/// Needs AVX2.
void horizontal_avx2(const HorizontalPass& pass);
/// Needs AVX2.
void vertical_avx2(const VerticalPass& pass);
#endif

/// A sum of weights times pixels -> a pixel: rounded, clipped.
inline std::uint8_t clip_to_byte(std::int32_t sum) {
  const std::int32_t value = sum >> kWeightBits;
  return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

}  // namespace vitascope::image
