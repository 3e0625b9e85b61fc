#pragma once

#include <cstdint>
#include <cstring>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

/// \file
/// Vectors of floats as wide as the instruction set that this file is compiled for. Part of the
/// kernels that are compiled once for each: everything here and in the files that include it lives
/// in a namespace of its own (VITASCOPE_ISA), is inlined, and calls nothing of the standard
/// library, so that no instruction reaches a processor that lacks it.
namespace vitascope::kernels::cpu::VITASCOPE_ISA {

#if defined(__AVX512F__)
inline constexpr int kLanes = 16;
#elif defined(__AVX2__)
inline constexpr int kLanes = 8;
#else
inline constexpr int kLanes = 4;
#endif

#define VITASCOPE_INLINE __attribute__((always_inline)) inline

using Vector = float __attribute__((vector_size(kLanes * 4)));
using Integers = std::int32_t __attribute__((vector_size(kLanes * 4)));

inline constexpr float kInfinity = __builtin_inff();

/// std::min, which other files might share with ours in another instruction set.
VITASCOPE_INLINE std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
/// The next multiple.
VITASCOPE_INLINE std::int64_t round_up(std::int64_t x, std::int64_t to) {
  return (x + to - 1) / to * to;
}

/// From any address.
VITASCOPE_INLINE Vector load(const float* from) {
  Vector x;
  std::memcpy(&x, from, sizeof x);
  return x;
}

/// To any address.
VITASCOPE_INLINE void store(float* to, Vector x) { std::memcpy(to, &x, sizeof x); }

/// x in every lane.
VITASCOPE_INLINE Vector broadcast(float x) { return x - Vector{}; }

/// b where a is NaN, as the processors' own instruction has it.
VITASCOPE_INLINE Vector maximum(Vector a, Vector b) { return a > b ? a : b; }

/// 0, 1, 2, ...
VITASCOPE_INLINE Integers lane_numbers() {
  Integers lanes;
  for (int i = 0; i < kLanes; ++i) lanes[i] = i;
  return lanes;
}

/// Lanes of a, and of b from kLanes on, in another order.
template <typename Lanes>
VITASCOPE_INLINE Lanes shuffle(Lanes a, Lanes b, Integers from) {
#if defined(__clang__)  // which finds the instruction by itself
  Lanes result;
  for (int i = 0; i < kLanes; ++i) result[i] = from[i] < kLanes ? a[from[i]] : b[from[i] - kLanes];
  return result;
#else
  return __builtin_shuffle(a, b, from);
#endif
}

/// The lanes of x folded into one by `join`, halves onto halves.
template <typename Join>
VITASCOPE_INLINE float fold(Vector x, const Join& join) {
#pragma GCC unroll 4
  for (int half = kLanes / 2; half > 0; half /= 2) {
    x = join(x, shuffle(x, x, lane_numbers() ^ half));
  }
  return x[0];
}

/// The largest lane.
VITASCOPE_INLINE float largest(Vector x) { return fold(x, maximum); }

/// All lanes added up.
VITASCOPE_INLINE float sum(Vector x) {
  return fold(x, [](Vector a, Vector b) { return a + b; });
}

/// Lanes below `count` of x, zeros behind.
VITASCOPE_INLINE Vector first_lanes(Vector x, std::int64_t count) {
  return lane_numbers() < static_cast<std::int32_t>(count) ? x : Vector{};
}

/// 2^rest for rest in [-1/2, 1/2], a polynomial that is exact at 0, fitted to the smallest largest
/// relative error: 1.1e-7 of degree 5; 2.9e-6 of degree 4, for probabilities that are rounded to
/// bfloat16 (2e-3) next.
template <int kDegree>
VITASCOPE_INLINE Vector exp2_polynomial(Vector rest) {
  if constexpr (kDegree == 4) {
    Vector p = broadcast(9.58285294e-3f);
    p = p * rest + 5.59064262e-2f;
    p = p * rest + 2.40240991e-1f;
    p = p * rest + 6.93124175e-1f;
    return p * rest + 1.0f;
  } else {
    Vector p = broadcast(1.32647273e-3f);
    p = p * rest + 9.67151299e-3f;
    p = p * rest + 5.55073358e-2f;
    p = p * rest + 2.40222424e-1f;
    p = p * rest + 6.93147004e-1f;
    return p * rest + 1.0f;
  }
}

/// 2^x for x <= 0, also for -infinity: 2^round(x) times a polynomial in the rest. Too small results
/// are 0; NaN stays NaN.
template <int kDegree = 5>
VITASCOPE_INLINE Vector exp2_of_negative(Vector x) {
#if defined(__AVX512F__)
  // 2^-160 rounds to 0. The masks, which let all lanes pass, spare GCC 12 a false warning.
  const __m512 bounded = __m512(maximum(broadcast(-160.f), x));
  const __m512 whole = _mm512_maskz_roundscale_ps(0xFFFF, bounded, 0);
  const Vector p = exp2_polynomial<kDegree>(Vector(bounded) - Vector(whole));
  return Vector(_mm512_maskz_scalef_ps(0xFFFF, __m512(p), whole));
#else
  constexpr float kRound = 0x1.8p23f;  // adding it leaves the integer in the low bits
  const Vector bounded = maximum(broadcast(-127.f), x);
  const Vector shifted = bounded + kRound;
  const Vector p = exp2_polynomial<kDegree>(bounded - (shifted - kRound));
  Integers bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  const Integers exponent = (bits + 127) << 23;  // the constant's own bits are shifted out
  Vector power;
  std::memcpy(&power, &exponent, sizeof power);
  return x < -126.f ? Vector{} : p * power;
#endif
}

}  // namespace vitascope::kernels::cpu::VITASCOPE_ISA
