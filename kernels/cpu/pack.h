#pragma once

#include "kernels/attention_problem.h"
#include "kernels/cpu/product.h"

/// \file
/// Rows of q, k and v brought into the order and the precision in which the products read them.
namespace vitascope::kernels::cpu::VITASCOPE_ISA {

/// The float of a pattern of bits.
VITASCOPE_INLINE float from_bits(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// The pattern of bits of a float.
VITASCOPE_INLINE std::uint32_t to_bits(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

/// Exact: bfloat16 is the upper half of a float.
VITASCOPE_INLINE float from_bfloat16(std::uint16_t half) {
  return from_bits(std::uint32_t(half) << 16);
}

/// Rounded to nearest, ties to even; NaN stays NaN.
VITASCOPE_INLINE std::uint16_t to_bfloat16(float x) {
  const std::uint32_t bits = to_bits(x);
  const std::uint32_t rounded = bits + 0x7FFF + ((bits >> 16) & 1);
  return static_cast<std::uint16_t>((x != x ? bits | 0x400000 : rounded) >> 16);
}

/// IEEE half: a multiplication moves the exponent, subnormal numbers included.
VITASCOPE_INLINE float from_float16(std::uint16_t half) {
  const std::uint32_t magnitude = std::uint32_t(half & 0x7FFF) << 13;
  const float scaled = from_bits(magnitude) * 0x1p112f;
  // 65536 and above were infinities and NaN: their exponent is all ones in float32 too.
  const std::uint32_t bits = scaled >= 65536.f ? magnitude | 0x7F800000u : to_bits(scaled);
  return from_bits(bits | std::uint32_t(half & 0x8000) << 16);
}

/// Rounded to nearest, ties to even.
VITASCOPE_INLINE std::uint16_t to_float16(float x) {
  const std::uint32_t bits = to_bits(x);
  const std::uint16_t sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return sign | 0x7E00;
  if (magnitude >= 0x477FF000) return sign | 0x7C00;  // from 65520 on
  if (magnitude < 0x38800000) {
    // Below 2^-14 halves are multiples of 2^-24: adding 1/2 leaves that many in the low bits.
    return static_cast<std::uint16_t>(sign | (to_bits(from_bits(magnitude) + 0.5f) - 0x3F000000));
  }
  const std::uint32_t rounded = magnitude + 0xFFF + ((magnitude >> 13) & 1);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000) >> 13));
}

/// 4 or 2.
VITASCOPE_INLINE std::int64_t element_bytes(Element element) {
  return element == Element::f32 ? 4 : 2;
}

/// Where an element lies, `offset` elements behind the base.
VITASCOPE_INLINE const void* address(const void* base, Element element, std::int64_t offset) {
  return static_cast<const char*>(base) + offset * element_bytes(element);
}

/// `count` elements as floats.
VITASCOPE_INLINE void read_row(const void* from, Element element, std::int64_t count, float* to) {
  const auto* halves = static_cast<const std::uint16_t*>(from);
  switch (element) {
    case Element::f32:
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
      return;
    case Element::bf16:
      for (std::int64_t i = 0; i < count; ++i) to[i] = from_bfloat16(halves[i]);
      return;
    case Element::f16:
      for (std::int64_t i = 0; i < count; ++i) to[i] = from_float16(halves[i]);
      return;
  }
}

/// The same the other way, rounded to nearest.
VITASCOPE_INLINE void write_row(const float* from, Element element, std::int64_t count, void* to) {
  auto* halves = static_cast<std::uint16_t*>(to);
  switch (element) {
    case Element::f32:
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
      return;
    case Element::bf16:
      for (std::int64_t i = 0; i < count; ++i) halves[i] = to_bfloat16(from[i]);
      return;
    case Element::f16:
      for (std::int64_t i = 0; i < count; ++i) halves[i] = to_float16(from[i]);
      return;
  }
}

/// The rows of one head of one picture.
struct Rows {
  const void* first;
  std::int64_t stride;  ///< in elements
  std::int64_t count;
  std::int64_t width;
  Element element;

  VITASCOPE_INLINE const void* at(std::int64_t i) const {
    return address(first, element, i * stride);
  }
};

/// Asks for a row before it is needed: rows of one head lie far apart, each on a page of its own.
VITASCOPE_INLINE void prefetch_row(const Rows& rows, std::int64_t row) {
  if (row >= rows.count) return;
  const auto* first = static_cast<const char*>(rows.at(row));
  constexpr std::int64_t kLine = 64;
  for (std::int64_t at = 0; at < rows.width * element_bytes(rows.element); at += kLine) {
    __builtin_prefetch(first + at);
  }
}

/// Elements of a row from d on, zeros behind the last.
VITASCOPE_INLINE Vector read_vector(const Rows& rows, std::int64_t row, std::int64_t d) {
  const void* from = address(rows.at(row), rows.element, d);
  float values[kLanes] = {};
  if (d + kLanes > rows.width) {
    read_row(from, rows.element, rows.width - d, values);
  } else if (rows.element == Element::f32) {
    return load(static_cast<const float*>(from));
  } else {
    read_row(from, rows.element, kLanes, values);
  }
  return load(values);
}

/// rows -> [count][ld] floats, zeros from the width on.
inline void pack_rows(const Rows& rows, float* to, std::int64_t ld) {
  for (std::int64_t i = 0; i < rows.count; ++i, to += ld) {
    read_row(rows.at(i), rows.element, rows.width, to);
    for (std::int64_t d = rows.width; d < ld; ++d) to[d] = 0;
  }
}

/// [count][ld] floats -> rows, which here are written to.
inline void write_rows(const float* from, std::int64_t ld, const Rows& rows) {
  for (std::int64_t i = 0; i < rows.count; ++i, from += ld) {
    write_row(from, rows.element, rows.width, const_cast<void*>(rows.at(i)));
  }
}

/// A square of numbers turned in registers: after as many perfect shuffles as the number of lanes
/// has bits, rows have become columns.
template <typename Lanes>
VITASCOPE_INLINE void transpose(Lanes (&rows)[kLanes]) {
  Integers low, high;
  for (int i = 0; i < kLanes; ++i) {
    low[i] = i / 2 + (i % 2) * kLanes;
    high[i] = kLanes / 2 + i / 2 + (i % 2) * kLanes;
  }
#pragma GCC unroll 4
  for (int step = 1; step < kLanes; step *= 2) {
    Lanes shuffled[kLanes];
#pragma GCC unroll 8
    for (int i = 0; i < kLanes / 2; ++i) {
      shuffled[2 * i] = shuffle(rows[i], rows[i + kLanes / 2], low);
      shuffled[2 * i + 1] = shuffle(rows[i], rows[i + kLanes / 2], high);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) rows[i] = shuffled[i];
  }
}

/// rows -> panels [panel][width][panel columns]: what stands side by side are the same elements of
/// neighbouring rows. Columns behind the last row repeat it, so that they hold ordinary numbers.
/// \param word 4-byte elements: floats, or pairs of bfloat16
/// \param width in words
template <typename Word, typename Read>
VITASCOPE_INLINE void pack_panels(std::int64_t count, std::int64_t width, const Read& read,
                                  Word* to) {
  using Lanes = decltype(read(0, 0));  // a vector of words
  const Panels panels = Panels::of(count);
  for (std::int64_t panel = 0; panel < panels.count(); ++panel) {
    const std::int64_t columns = panels.size(panel) * kLanes;
    for (std::int64_t vector = 0; vector < panels.size(panel); ++vector) {
      const std::int64_t begin = (panels.begin(panel) + vector) * kLanes;
      for (std::int64_t d = 0; d < width; d += kLanes) {
        Lanes square[kLanes];
        for (int i = 0; i < kLanes; ++i) {
          const std::int64_t row = begin + i < count ? begin + i : count - 1;
          square[i] = read(row, d);
        }
        transpose(square);
        const std::int64_t deep = width - d < kLanes ? width - d : kLanes;
        for (std::int64_t i = 0; i < deep; ++i) {
          std::memcpy(to + (d + i) * columns + vector * kLanes, &square[i], sizeof(Lanes));
        }
      }
    }
    to += width * columns;
  }
}

}  // namespace vitascope::kernels::cpu::VITASCOPE_ISA
