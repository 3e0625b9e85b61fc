#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "vit/weights/stored_tensors.h"

/// \file
/// LibTorch's tensors in files of the safetensors format.
namespace vitascope::weights {

/// The type under which a tensor of LibTorch's is stored.
/// \throws InternalError when it has none
DType stored_type(at::ScalarType type);

/// write_safetensors for tensors as they are, on whatever device.
/// \throws UsageError, FailureError as write_safetensors does
void write_tensors(const std::string& path, const std::map<std::string, at::Tensor>& tensors,
                   const std::map<std::string, std::string>& metadata, bool force);

}  // namespace vitascope::weights
