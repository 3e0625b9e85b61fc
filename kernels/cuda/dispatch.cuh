#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/attention_problem.h"
#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/tile.cuh"

/// \file
/// From the numbers of a problem to the template that serves it, and what kernels ask of pointers.
namespace vitascope::kernels::cuda {

inline constexpr std::int64_t kMaxWidth = 128;
inline constexpr std::int64_t kMaxBlocks = 0x7FFFFFFF;  // of a one-dimensional grid

/// Calls `function` with the smallest width of a tile that holds D columns.
template <class Function>
void with_width(std::int64_t width, const Function& function) {
  if (width <= 16) return function(std::integral_constant<int, 16>());
  if (width <= 32) return function(std::integral_constant<int, 32>());
  if (width <= 64) return function(std::integral_constant<int, 64>());
  if (width <= 80) return function(std::integral_constant<int, 80>());
  if (width <= 96) return function(std::integral_constant<int, 96>());
  return function(std::integral_constant<int, 128>());
}

/// Calls `function` with a value of the type that holds elements.
template <class Function>
void with_type(Element element, const Function& function) {
  switch (element) {
    case Element::f32:
      return function(TypeOf<Element::f32>::type{});
    case Element::bf16:
      return function(TypeOf<Element::bf16>::type{});
    case Element::f16:
      return function(TypeOf<Element::f16>::type{});
  }
}

/// Whether every row of 16-bit elements begins at a multiple of 16 bytes.
inline bool rows_in_packets(const void* first, const Strides& strides) {
  return reinterpret_cast<std::uintptr_t>(first) % 16 == 0 && strides.batch % 8 == 0 &&
         strides.head % 8 == 0 && strides.row % 8 == 0;
}

/// Whether pairs of 16-bit elements may be written as one word.
inline bool rows_in_pairs(const void* first, const Strides& strides) {
  return reinterpret_cast<std::uintptr_t>(first) % 4 == 0 && strides.batch % 2 == 0 &&
         strides.head % 2 == 0 && strides.row % 2 == 0;
}

/// What no kernel of ours does, by name; nullptr: nothing of it is asked for.
inline const char* common_limits(const AttentionProblem& problem, std::int64_t tile,
                                 std::int64_t rows) {
  if (problem.width < 1 || problem.width > kMaxWidth) return "head width is not 1 to 128";
  const std::int64_t tiles = (rows + tile - 1) / tile;
  if (problem.batch * problem.heads > kMaxBlocks / (tiles > 0 ? tiles : 1)) {
    return "more tiles than a grid has blocks";
  }
  return nullptr;
}

}  // namespace vitascope::kernels::cuda
