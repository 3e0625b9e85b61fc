#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

/// \file
/// What every method gives: a number for each patch.
namespace vitascope::explain {

/// A number for each patch of one picture, as its formula gives it, and what it is a map of.
struct Map {
  at::Tensor values;                    ///< float32 [rows, columns] on the CPU
  std::string method{};                 ///< its name, as methods() lists it
  std::optional<int> layer{};           ///< block, from 0; nothing: all of them
  std::optional<int> head{};            ///< nothing: all of them
  std::optional<std::int64_t> patch{};  ///< the query, where it is a patch
  std::optional<std::int64_t> class_index{};
};

/// A tensor's numbers in order, float or double.
template <typename Number>
std::vector<Number> numbers(const at::Tensor& tensor);

/// Values stretched to 0 .. 1; a constant map becomes all 0.
at::Tensor min_max(const at::Tensor& values);

}  // namespace vitascope::explain
