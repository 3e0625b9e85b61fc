#include "vit/image/resize_passes.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

// Pixels are multiplied as 16-bit numbers, two products added in one instruction. A weight has up
// to 24 bits, so it is split: weight = high * 2^15 + low with 0 <= low < 2^15. The sums of both
// halves may wrap around, but not their sum, which is the baseline's.
namespace vitascope::image {
namespace {

constexpr int kLowBits = 15;
constexpr int kRows = 4;  // rows that share the loads of weights

std::int16_t low_half(std::int32_t weight) {
  return static_cast<std::int16_t>(weight & ((1 << kLowBits) - 1));
}
std::int16_t high_half(std::int32_t weight) {
  return static_cast<std::int16_t>(weight >> kLowBits);
}

/// Four taps: their low halves, then their high halves.
using Taps = std::array<std::int16_t, 8>;

/// [outputs, stride / 4] taps.
std::vector<Taps> split(const Coefficients& c) {
  std::vector<Taps> taps(c.weight.size() / 4);
  for (std::size_t i = 0; i < taps.size(); ++i)
    for (std::size_t k = 0; k < 4; ++k) {
      taps[i][k] = low_half(c.weight[4 * i + k]);
      taps[i][4 + k] = high_half(c.weight[4 * i + k]);
    }
  return taps;
}

/// Rounds and clips 4 sums in place of their bytes.
[[gnu::target("avx2")]] std::uint32_t clip_four(__m128i sums) {
  sums = _mm_srai_epi32(_mm_add_epi32(sums, _mm_set1_epi32(1 << (kWeightBits - 1))), kWeightBits);
  const __m128i words = _mm_packs_epi32(sums, sums);
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_packus_epi16(words, words)));
}

/// Rows `in` -> rows `out`, `rows` of them at a time.
template <int rows>
[[gnu::target("avx2")]] void convolve(const Coefficients& c, const std::vector<Taps>& taps,
                                      const std::array<const std::uint8_t*, kRows>& in,
                                      const std::array<std::uint8_t*, kRows>& out) {
  // 12 bytes are 4 pixels: a lane takes two, as 16-bit pairs R0 R1 G0 G1 B0 B1 0 0.
  const __m256i pairs =
      _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1,  //
                       6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1);
  const __m256i lows = _mm256_setr_epi8(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,  //
                                        4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7);
  const __m256i highs = _mm256_add_epi8(lows, _mm256_set1_epi8(8));
  for (std::size_t x = 0; x < c.first.size(); ++x) {
    const Taps* tap = &taps[x * c.stride / 4];
    std::size_t at = static_cast<std::size_t>(c.first[x]) * 3;
    __m256i low[rows];
    __m256i high[rows];
    for (int r = 0; r < rows; ++r) low[r] = high[r] = _mm256_setzero_si256();
    for (int k = 0; k < c.count[x]; k += 4, at += 12, ++tap) {
      const __m256i both =
          _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(tap)));
      const __m256i low_weight = _mm256_shuffle_epi8(both, lows);
      const __m256i high_weight = _mm256_shuffle_epi8(both, highs);
      for (int r = 0; r < rows; ++r) {
        const __m256i pixels =
            _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(
                                    _mm_loadu_si128(reinterpret_cast<const __m128i*>(in[r] + at))),
                                pairs);
        low[r] = _mm256_add_epi32(low[r], _mm256_madd_epi16(pixels, low_weight));
        high[r] = _mm256_add_epi32(high[r], _mm256_madd_epi16(pixels, high_weight));
      }
    }
    for (int r = 0; r < rows; ++r) {
      const __m256i sum = _mm256_add_epi32(low[r], _mm256_slli_epi32(high[r], kLowBits));
      const std::uint32_t pixel =
          clip_four(_mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1)));
      std::memcpy(out[r] + 3 * x, &pixel, 3);
    }
  }
}

/// The sums of 32 columns.
struct Sums {
  __m256i low[4];
  __m256i high[4];
};

/// Adds two input rows. Columns are kept in the order that the unpacking leaves, which packing
/// undoes.
[[gnu::target("avx2")]] void add_rows(Sums& sums, const std::uint8_t* first,
                                      const std::uint8_t* second, std::int32_t first_weight,
                                      std::int32_t second_weight) {
  const auto pair = [](std::int16_t a, std::int16_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint16_t>(a) |
                                     static_cast<std::uint32_t>(static_cast<std::uint16_t>(b))
                                         << 16);
  };
  const __m256i low = _mm256_set1_epi32(pair(low_half(first_weight), low_half(second_weight)));
  const __m256i high = _mm256_set1_epi32(pair(high_half(first_weight), high_half(second_weight)));
  const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first));
  const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(second));
  const __m256i zero = _mm256_setzero_si256();
  const __m256i front = _mm256_unpacklo_epi8(a, b);
  const __m256i back = _mm256_unpackhi_epi8(a, b);
  const __m256i pixels[4] = {_mm256_unpacklo_epi8(front, zero), _mm256_unpackhi_epi8(front, zero),
                             _mm256_unpacklo_epi8(back, zero), _mm256_unpackhi_epi8(back, zero)};
  for (int i = 0; i < 4; ++i) {
    sums.low[i] = _mm256_add_epi32(sums.low[i], _mm256_madd_epi16(pixels[i], low));
    sums.high[i] = _mm256_add_epi32(sums.high[i], _mm256_madd_epi16(pixels[i], high));
  }
}

[[gnu::target("avx2")]] void store_columns(const Sums& sums, std::uint8_t* out) {
  __m256i value[4];
  for (int i = 0; i < 4; ++i) {
    value[i] = _mm256_add_epi32(sums.low[i], _mm256_slli_epi32(sums.high[i], kLowBits));
    value[i] = _mm256_add_epi32(value[i], _mm256_set1_epi32(1 << (kWeightBits - 1)));
    value[i] = _mm256_srai_epi32(value[i], kWeightBits);
  }
  const __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(value[0], value[1]),
                                            _mm256_packs_epi32(value[2], value[3]));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), bytes);
}

}  // namespace

[[gnu::target("avx2")]] void horizontal_avx2(const HorizontalPass& pass) {
  const Coefficients& c = *pass.coefficients;
  const std::vector<Taps> taps = split(c);
  // A row's last load may reach beyond it: into the next row, whose weights are 0, but at the end
  // of the picture into nothing.
  std::size_t reach = 0;
  for (std::size_t x = 0; x < c.first.size(); ++x)
    reach = std::max<std::size_t>(reach, (c.first[x] + (c.count[x] + 3) / 4 * 4) * 3 + 4);
  std::vector<std::uint8_t> spare;
  const std::size_t out_stride = c.first.size() * 3;
  for (int y = 0; y < pass.count;) {
    const std::size_t at = y * pass.row_stride;
    const int rows = pass.count - y < kRows ? 1 : kRows;
    std::array<const std::uint8_t*, kRows> in{};
    std::array<std::uint8_t*, kRows> out{};
    for (int r = 0; r < rows; ++r) {
      in[r] = pass.rows + at + r * pass.row_stride;
      out[r] = pass.out + (y + r) * out_stride;
    }
    const bool inside = at + (rows - 1) * pass.row_stride + reach <= pass.readable;
    if (inside && rows == kRows) {
      convolve<kRows>(c, taps, in, out);
      y += kRows;
      continue;
    }
    if (at + reach > pass.readable) {
      spare.assign(reach, 0);
      std::memcpy(spare.data(), in[0], std::min(reach, pass.readable - at));
      in[0] = spare.data();
    }
    convolve<1>(c, taps, in, out);
    ++y;
  }
}

[[gnu::target("avx2")]] void vertical_avx2(const VerticalPass& pass) {
  std::size_t x = 0;
  for (; x + 32 <= pass.length; x += 32) {
    Sums sums;
    for (int i = 0; i < 4; ++i) sums.low[i] = sums.high[i] = _mm256_setzero_si256();
    const std::uint8_t* row = pass.rows + x;
    int k = 0;
    for (; k + 1 < pass.count; k += 2, row += 2 * pass.row_stride)
      add_rows(sums, row, row + pass.row_stride, pass.weight[k], pass.weight[k + 1]);
    if (k < pass.count) add_rows(sums, row, row, pass.weight[k], 0);
    store_columns(sums, pass.out + x);
  }
  VerticalPass rest = pass;
  rest.rows += x;
  rest.out += x;
  rest.length -= x;
  vertical_baseline(rest);
}

}  // namespace vitascope::image

#endif
