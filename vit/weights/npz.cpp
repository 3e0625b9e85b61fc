#include "vit/weights/npz.h"

#include <fmt/format.h>

#include <stdexcept>

#include "vit/error.h"
#include "vit/text.h"
#include "vit/weights/npy_header.h"
#include "vit/weights/zip_archive.h"

namespace vitascope::weights {
namespace {

/// Fortran order keeps the shape and lets the first axis vary fastest.
std::vector<std::int64_t> fortran_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides;
  std::int64_t stride = 1;
  for (const std::int64_t size : shape) {
    strides.push_back(stride);
    stride *= size;
  }
  return strides;
}

StoredTensor read_array(Bytes entry, const std::string& path) {
  const NpyHeader header = parse_npy_header(entry, path);
  StoredTensor tensor;
  tensor.dtype = header.dtype;
  tensor.shape = header.shape;
  std::int64_t count = 0;
  try {
    count = element_count(header.shape);
  } catch (const std::overflow_error& error) {
    throw InputError(path, fmt::format("shape {}: {}", shape_text(header.shape), error.what()));
  }
  const std::size_t size = entry.size() - header.size;
  const std::size_t width = element_size(header.dtype);
  if (size % width != 0 || size / width != static_cast<std::size_t>(count)) {
    throw InputError(
        path, fmt::format("{} bytes at byte {} of the entry do not make shape {} of {}", size,
                          header.size, shape_text(header.shape), dtype_name(header.dtype)));
  }
  tensor.bytes = entry.subspan(header.size);
  int wide_axes = 0;
  for (const std::int64_t axis : header.shape) wide_axes += axis != 1;
  if (header.fortran_order && wide_axes > 1 && count > 0) {
    tensor.strides = fortran_strides(header.shape);
  }
  return tensor;
}

}  // namespace

StoredTensors parse_npz(Bytes file, const std::string& path, std::shared_ptr<const void> owner) {
  const ZipArchive archive = ZipArchive::parse(file, path);
  StoredTensors result;
  result.files.push_back(path);
  for (const ZipArchive::Entry& entry : archive.entries()) {
    constexpr std::string_view kExtension = ".npy";
    if (!entry.name.ends_with(kExtension)) {
      result.notes.push_back(
          fmt::format("'{}' is no .npy array and was left out", printable(entry.name)));
      continue;
    }
    const ZipArchive::Content content = archive.read(entry);
    try {
      StoredTensor tensor = read_array(content.bytes, path);
      tensor.owner = content.owner ? content.owner : owner;
      result.tensors.emplace(entry.name.substr(0, entry.name.size() - kExtension.size()),
                             std::move(tensor));
    } catch (const InputError& error) {
      throw InputError(
          path, fmt::format("array '{}', whose entry begins at byte {}: {}", printable(entry.name),
                            entry.data_offset, error.message()));
    }
  }
  if (result.tensors.empty()) throw InputError(path, "is a zip archive without any .npy array");
  return result;
}

StoredTensors read_npz(const std::string& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  StoredTensors result = parse_npz(file->bytes(), path, file);
  for (auto& [name, tensor] : result.tensors) {
    if (tensor.owner == file) tensor.file = file;  // inflated arrays are no part of the file
  }
  return result;
}

}  // namespace vitascope::weights
