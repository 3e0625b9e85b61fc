#include "vit/weights/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "vit/error.h"
#include "vit/json.h"
#include "vit/text.h"
#include "vit/weights/little_endian.h"

namespace vitascope::weights {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaximumHeader = 100'000'000;

std::optional<DType> dtype_named(const std::string& name) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32,
                            DType::i16, DType::i8, DType::u8, DType::boolean}) {
    if (name == dtype_name(dtype)) return dtype;
  }
  return std::nullopt;
}

/// The JSON header and where the tensors begin.
struct Header {
  Json json;
  std::size_t data = 0;
};

Header read_header(Bytes file, const std::string& path) {
  if (file.size() < kLengthBytes) {
    throw InputError(path, fmt::format("is no safetensors file: it has {} bytes, and the length of "
                                       "the header alone takes 8; download it again",
                                       file.size()));
  }
  const std::uint64_t length = little_endian(file, 0, kLengthBytes);
  if (length > kMaximumHeader) {
    throw InputError(path, fmt::format("is no safetensors file: at byte 0 it states a header of {} "
                                       "bytes, above the limit of {}",
                                       length, kMaximumHeader));
  }
  if (length > file.size() - kLengthBytes) {
    throw InputError(path, fmt::format("is cut short: the header stated at byte 0 has {} bytes, "
                                       "but the file ends after {}; download it again",
                                       length, file.size() - kLengthBytes));
  }
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes, length);
  Header header;
  header.data = kLengthBytes + length;
  try {
    header.json = parse_json(text, path);
  } catch (const InputError& error) {
    throw InputError(
        path, "in the safetensors header (its byte 0 is byte 8 of the file): " + error.message());
  }
  if (!header.json.is_object()) {
    throw InputError(path, "the safetensors header at byte 8 is not a JSON object");
  }
  return header;
}

void read_metadata(const Json& json, const std::string& path, StoredTensors& result) {
  if (!json.is_object()) {
    throw InputError(path, "__metadata__ in the header at byte 8 is not an object of strings");
  }
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) {
      throw InputError(path, fmt::format("__metadata__ in the header at byte 8: '{}' is not a "
                                         "string",
                                         printable(key)));
    }
    result.metadata[key] = value.get<std::string>();
  }
}

/// Where a tensor lies, in bytes from the start of the data.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  const std::string* name = nullptr;
};

/// Reads one entry of the header. Its range is checked against the file, not yet against others'.
std::pair<StoredTensor, Range> read_entry(const std::string& name, const Json& json,
                                          const Header& header, Bytes file,
                                          const std::string& path) {
  const auto fail = [&](const std::string& what) {
    return InputError(
        path, fmt::format("tensor '{}' in the header at byte 8: {}", printable(name), what));
  };
  if (!json.is_object()) throw fail("not an object with dtype, shape and data_offsets");
  const auto member = [&](const char* key) -> const Json& {
    const auto found = json.find(key);
    if (found == json.end()) throw fail(fmt::format("{} is missing", key));
    return *found;
  };

  const Json& dtype = member("dtype");
  if (!dtype.is_string()) throw fail("dtype is not a string");
  const std::optional<DType> known = dtype_named(dtype.get<std::string>());
  if (!known) {
    throw fail(
        fmt::format("dtype {} is not supported; known are F64 F32 F16 BF16 I64 I32 I16 I8 "
                    "U8 BOOL",
                    printable(dtype.get<std::string>())));
  }
  StoredTensor tensor;
  tensor.dtype = *known;

  const Json& shape = member("shape");
  if (!shape.is_array()) throw fail("shape is not an array");
  for (const Json& size : shape) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > INT64_MAX) {
      throw fail("shape holds something that is not a size");
    }
    tensor.shape.push_back(size.get<std::int64_t>());
  }

  const Json& offsets = member("data_offsets");
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    throw fail("data_offsets is not an array of two offsets");
  }
  Range range{offsets[0].get<std::uint64_t>(), offsets[1].get<std::uint64_t>()};
  const std::size_t available = file.size() - header.data;
  if (range.begin > range.end || range.end > available) {
    throw fail(
        fmt::format("data_offsets [{}, {}] lie outside the {} bytes of data that begin at "
                    "byte {}; the file is damaged or cut short",
                    range.begin, range.end, available, header.data));
  }

  std::int64_t wanted = 0;
  try {
    wanted = element_count(tensor.shape);
  } catch (const std::overflow_error& error) {
    throw fail(fmt::format("shape {}: {}", shape_text(tensor.shape), error.what()));
  }
  const std::uint64_t size = range.end - range.begin;
  const std::size_t element = element_size(tensor.dtype);
  if (size % element != 0 || size / element != static_cast<std::uint64_t>(wanted)) {
    throw fail(fmt::format("{} bytes at byte {} do not make shape {} of {}", size,
                           header.data + range.begin, shape_text(tensor.shape),
                           dtype_name(tensor.dtype)));
  }
  tensor.bytes = file.subspan(header.data + range.begin, size);
  return {std::move(tensor), range};
}

/// The format allows neither overlaps nor holes: with either, bytes could mean two things or hide.
void check_ranges(std::vector<Range> ranges, const Header& header, Bytes file,
                  const std::string& path) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t end = 0;
  for (const Range& range : ranges) {
    if (range.begin != end) {
      throw InputError(
          path, fmt::format("tensor '{}' begins at byte {}, but the one before it ends "
                            "at byte {}: tensors {}",
                            printable(*range.name), header.data + range.begin, header.data + end,
                            range.begin < end ? "overlap" : "have a hole between them"));
    }
    end = range.end;
  }
  if (header.data + end != file.size()) {
    throw InputError(path,
                     fmt::format("has {} bytes after the last tensor, from byte {} on, that no "
                                 "tensor owns",
                                 file.size() - header.data - end, header.data + end));
  }
}

}  // namespace

StoredTensors parse_safetensors(Bytes file, const std::string& path,
                                std::shared_ptr<const void> owner) {
  const Header header = read_header(file, path);
  StoredTensors result;
  result.files.push_back(path);
  std::vector<Range> ranges;
  for (const auto& [name, entry] : header.json.items()) {
    if (name == "__metadata__") {
      read_metadata(entry, path, result);
      continue;
    }
    auto [tensor, range] = read_entry(name, entry, header, file, path);
    tensor.owner = owner;
    const auto position = result.tensors.emplace(name, std::move(tensor)).first;
    range.name = &position->first;
    ranges.push_back(range);
  }
  check_ranges(std::move(ranges), header, file, path);
  return result;
}

StoredTensors read_safetensors(const std::string& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  StoredTensors result = parse_safetensors(file->bytes(), path, file);
  for (auto& [name, tensor] : result.tensors) tensor.file = file;
  return result;
}

}  // namespace vitascope::weights
