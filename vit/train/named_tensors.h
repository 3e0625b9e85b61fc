#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

/// \file
/// Tensors by name: what a checkpoint saves and loads.
namespace vitascope::train {

/// Handles: they share memory with whoever gave them.
using NamedTensors = std::map<std::string, at::Tensor>;

/// Copies saved values into the tensors that are there; nothing is copied unless all fits.
/// \throws std::invalid_argument that names the tensor: missing, not expected, or another shape or
///         type
void restore_values(const NamedTensors& saved, const NamedTensors& into);

}  // namespace vitascope::train
