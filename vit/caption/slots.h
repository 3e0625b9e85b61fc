#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

/// \file
/// How a part of a captioner tells which parameters it has.
namespace vitascope::caption {

/// One parameter: its name in files, its place, and the shape that it must have.
struct Slot {
  std::string name;
  at::Tensor* tensor;
  std::vector<std::int64_t> shape;
};

/// In the order of a file.
using Slots = std::vector<Slot>;

}  // namespace vitascope::caption
