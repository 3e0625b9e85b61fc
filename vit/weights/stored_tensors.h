#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "vit/file.h"

/// \file
/// Tensors as they lie in a file: names, shapes and bytes, before LibTorch knows of them.
namespace vitascope::weights {

/// Element types that weights come in.
enum class DType { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean };

/// Bytes of one element.
std::size_t element_size(DType dtype);
/// "F32", "BF16", ... as safetensors spells it.
const char* dtype_name(DType dtype);

/// One tensor inside a file. `bytes` stays valid while `owner` lives.
struct StoredTensor {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< in elements; empty: contiguous
  Bytes bytes;                        ///< from the first element on; all of it inside the file
  std::shared_ptr<const void> owner;
  std::shared_ptr<const MappedFile> file;  ///< set when `bytes` is a part of a mapped file
};

/// What a weight file holds.
struct StoredTensors {
  std::map<std::string, StoredTensor> tensors;
  std::map<std::string, std::string> metadata;  ///< safetensors' __metadata__; .pth: scalars beside
  std::vector<std::string> files;               ///< the files that were read
  std::vector<std::string> notes;               ///< what the reader decided, for `info`
};

/// Number of elements of a shape.
/// \throws std::overflow_error when it does not fit in 63 bits or a size is negative
std::int64_t element_count(const std::vector<std::int64_t>& shape);

}  // namespace vitascope::weights
