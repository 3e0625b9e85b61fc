#include "vit/weights/stored_tensors.h"

#include <algorithm>
#include <stdexcept>

namespace vitascope::weights {

std::size_t element_size(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::i64:
      return 8;
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::f16:
    case DType::bf16:
    case DType::i16:
      return 2;
    case DType::i8:
    case DType::u8:
    case DType::boolean:
      return 1;
  }
  throw std::logic_error("element_size: not a dtype");
}

const char* dtype_name(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "F64";
    case DType::f32:
      return "F32";
    case DType::f16:
      return "F16";
    case DType::bf16:
      return "BF16";
    case DType::i64:
      return "I64";
    case DType::i32:
      return "I32";
    case DType::i16:
      return "I16";
    case DType::i8:
      return "I8";
    case DType::u8:
      return "U8";
    case DType::boolean:
      return "BOOL";
  }
  throw std::logic_error("dtype_name: not a dtype");
}

std::int64_t element_count(const std::vector<std::int64_t>& shape) {
  // A zero does not excuse its neighbours: strides are products of these sizes and must fit too.
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) throw std::overflow_error("a size is negative");
    empty = empty || size == 0;
    if (__builtin_mul_overflow(count, std::max<std::int64_t>(size, 1), &count)) {
      throw std::overflow_error("the number of elements does not fit in 63 bits");
    }
  }
  return empty ? 0 : count;
}

}  // namespace vitascope::weights
