#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "vit/error.h"
#include "vit/json.h"
#include "vit/text.h"
#include "vit/weights/safetensors.h"

namespace vitascope::weights {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// The order in which Python's writer puts dtypes, wide elements first: so every tensor is aligned
/// to its element although none is padded.
int dtype_rank(DType dtype) {
  switch (dtype) {
    case DType::i64:
      return 0;
    case DType::f64:
      return 1;
    case DType::f32:
      return 2;
    case DType::i32:
      return 3;
    case DType::bf16:
      return 4;
    case DType::f16:
      return 5;
    case DType::i16:
      return 6;
    case DType::i8:
      return 7;
    case DType::u8:
      return 8;
    case DType::boolean:
      return 9;
  }
  throw InternalError("dtype_rank: not a dtype");
}

void check(const std::vector<const TensorToWrite*>& tensors) {
  std::set<std::string> names;
  for (const TensorToWrite* tensor : tensors) {
    if (tensor->name == "__metadata__" || !names.insert(tensor->name).second) {
      throw InternalError("write_safetensors: the name '" + printable(tensor->name) +
                          "' is reserved or is given twice");
    }
    const auto expected = static_cast<std::size_t>(element_count(tensor->shape));
    if (tensor->bytes.size() != expected * element_size(tensor->dtype)) {
      throw InternalError(fmt::format("write_safetensors: '{}' has {} bytes, shape {} of {}",
                                      printable(tensor->name), tensor->bytes.size(),
                                      shape_text(tensor->shape), dtype_name(tensor->dtype)));
    }
  }
}

/// The length and the header, padded with spaces so that the data begins at a multiple of 8.
std::string header_bytes(const std::vector<const TensorToWrite*>& tensors,
                         const std::map<std::string, std::string>& metadata) {
  OrderedJson header = OrderedJson::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t offset = 0;
  for (const TensorToWrite* tensor : tensors) {
    const std::size_t end = offset + tensor->bytes.size();
    header[tensor->name] = {{"dtype", dtype_name(tensor->dtype)},
                            {"shape", tensor->shape},
                            {"data_offsets", {offset, end}}};
    offset = end;
  }
  // Metadata may carry file names, which need not be UTF-8; JSON must be.
  std::string text = header.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string result;
  for (std::size_t i = 0; i < 8; ++i) {
    result.push_back(static_cast<char>((text.size() >> (8 * i)) & 0xff));
  }
  return result + text;
}

}  // namespace

void write_safetensors(const std::string& path, const std::vector<TensorToWrite>& tensors,
                       const std::map<std::string, std::string>& metadata, bool force) {
  std::vector<const TensorToWrite*> sorted;
  sorted.reserve(tensors.size());
  for (const TensorToWrite& tensor : tensors) sorted.push_back(&tensor);
  std::sort(sorted.begin(), sorted.end(), [](const TensorToWrite* a, const TensorToWrite* b) {
    const int rank_a = dtype_rank(a->dtype);
    const int rank_b = dtype_rank(b->dtype);
    return std::tie(rank_a, a->name) < std::tie(rank_b, b->name);
  });
  check(sorted);
  const std::string header = header_bytes(sorted, metadata);
  write_file(path, force, [&](const std::function<void(Bytes)>& append) {
    append(std::as_bytes(std::span(header)));
    for (const TensorToWrite* tensor : sorted) append(tensor->bytes);
  });
}

}  // namespace vitascope::weights
