#include "vit/weights/tensor_file.h"

#include <ATen/ATen.h>

#include <vector>

#include "vit/error.h"
#include "vit/weights/safetensors.h"

namespace vitascope::weights {

DType stored_type(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return DType::f64;
    case at::kFloat:
      return DType::f32;
    case at::kBFloat16:
      return DType::bf16;
    case at::kHalf:
      return DType::f16;
    case at::kLong:
      return DType::i64;
    case at::kInt:
      return DType::i32;
    case at::kByte:
      return DType::u8;
    default:
      throw InternalError("stored_type: a tensor of a type that is not saved");
  }
}

void write_tensors(const std::string& path, const std::map<std::string, at::Tensor>& tensors,
                   const std::map<std::string, std::string>& metadata, bool force) {
  std::vector<at::Tensor> kept;
  std::vector<TensorToWrite> list;
  kept.reserve(tensors.size());
  list.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) {
    kept.push_back(tensor.detach().cpu().contiguous());
    const auto* data = static_cast<const std::byte*>(kept.back().const_data_ptr());
    list.push_back({name, stored_type(tensor.scalar_type()), tensor.sizes().vec(),
                    Bytes(data, static_cast<std::size_t>(kept.back().nbytes()))});
  }
  write_safetensors(path, list, metadata, force);
}

}  // namespace vitascope::weights
