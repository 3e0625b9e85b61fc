#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "tests/vit/weights/pickle_builder.h"
#include "vit/error.h"
#include "vit/weights/torch_archive.h"

/// \file
/// Archives of torch.save made byte by byte.
namespace vitascope::tests {

inline std::string numbers(const std::vector<std::int64_t>& values) {
  std::string items;
  for (const std::int64_t value : values) items += integer(value);
  return tuple(items);
}

/// The pickled reference to storage '0'.
inline std::string storage(std::int64_t elements, const std::string& type = "FloatStorage") {
  return tuple(text("storage") + global("torch", type) + text("0") + text("cpu") +
               integer(elements)) +
         "Q";
}

inline std::string tensor_of(const std::string& storage, std::int64_t offset,
                             const std::vector<std::int64_t>& shape,
                             const std::vector<std::int64_t>& strides) {
  return call(global("torch._utils", "_rebuild_tensor_v2"),
              tuple(storage + integer(offset) + numbers(shape) + numbers(strides) + "\x89" +
                    call(global("collections", "OrderedDict"), ")")));
}

/// An archive whose pickle is `root` and whose storage '0' holds the floats 0, 1, 2, ...
inline std::string archive(const std::string& root, int elements = 6, bool deflate = false) {
  std::string data;
  for (int i = 0; i < elements; ++i) {
    const auto value = static_cast<float>(i);
    data.append(reinterpret_cast<const char*>(&value), 4);
  }
  return zip_of({{"m/data.pkl", pickle(root), deflate},
                 {"m/byteorder", "little"},
                 {"m/data/0", data, deflate},
                 {"m/version", "3\n"}});
}

/// The tensors keep a copy of `file` alive.
inline weights::StoredTensors parse_archive(const std::string& file) {
  const auto owner = std::make_shared<const std::string>(file);
  return weights::parse_torch_archive(std::as_bytes(std::span(*owner)), "a.pth", owner);
}

/// The message of the error that ends reading `file`.
inline std::string archive_error(const std::string& file) {
  try {
    parse_archive(file);
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), "a.pth");
    return error.message();
  }
  return "no error";
}

/// The elements in row-major order, through strides, as doubles. F32 only.
inline std::vector<double> floats(const weights::StoredTensor& tensor) {
  EXPECT_EQ(tensor.dtype, weights::DType::f32);
  std::vector<double> result;
  std::vector<std::int64_t> index(tensor.shape.size(), 0);
  for (std::int64_t i = 0; i < weights::element_count(tensor.shape); ++i) {
    std::int64_t rest = i;
    std::int64_t position = tensor.strides.empty() ? i : 0;
    for (std::size_t axis = tensor.shape.size(); axis-- > 0 && !tensor.strides.empty();) {
      position += rest % tensor.shape[axis] * tensor.strides[axis];
      rest /= tensor.shape[axis];
    }
    EXPECT_LE(static_cast<std::size_t>(position + 1) * 4, tensor.bytes.size());
    float value = 0;
    std::memcpy(&value, tensor.bytes.data() + position * 4, 4);
    result.push_back(value);
  }
  return result;
}

}  // namespace vitascope::tests
