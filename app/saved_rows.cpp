#include "app/saved_rows.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <span>

#include "app/output.h"
#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

Bytes text_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

/// The header of version 1.0, padded so that the numbers begin at a multiple of 64.
std::string npy_header(const std::vector<std::int64_t>& shape) {
  std::string dictionary = fmt::format(
      "{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}", fmt::join(shape, ", "));
  const std::size_t before = 10;  // magic, version, length
  const std::size_t padding = 63 - (before + dictionary.size()) % 64;
  dictionary += std::string(padding, ' ') + "\n";
  std::string header = "\x93NUMPY";
  header += '\x01';
  header += '\0';
  header += static_cast<char>(dictionary.size() & 0xFF);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

}  // namespace

void SavedRows::check(const at::Tensor& row, const std::string& path) const {
  const std::vector<std::int64_t> shape = row.sizes().vec();
  if (count_ == 0 || shape == row_shape_) return;
  throw InputError(path, fmt::format("{} is {} here and {} for the photos before; one file holds "
                                     "photos of one size (--resize or --crop can make them so)",
                                     name_, shape_text(shape), shape_text(row_shape_)));
}

void SavedRows::add(const at::Tensor& row, const std::string& path) {
  check(row, path);
  const at::Tensor plain = row.to(at::kCPU, at::kFloat).contiguous();
  const float* values = plain.const_data_ptr<float>();
  values_.insert(values_.end(), values, values + plain.numel());
  row_shape_ = plain.sizes().vec();
  ++count_;
}

std::vector<std::int64_t> SavedRows::shape() const {
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(count_)};
  shape.insert(shape.end(), row_shape_.begin(), row_shape_.end());
  return shape;
}

std::span<const float> SavedRows::row(std::size_t index) const {
  const std::size_t width = count_ == 0 ? 0 : values_.size() / count_;
  return std::span(values_).subspan(index * width, width);
}

weights::TensorToWrite SavedRows::tensor() const {
  return {name_, weights::DType::f32, shape(), std::as_bytes(values())};
}

void write_npy(const std::string& path, const std::vector<std::int64_t>& shape,
               std::span<const float> values, bool force) {
  const std::string header = npy_header(shape);
  write_file(path, force, [&](const std::function<void(Bytes)>& append) {
    append(text_bytes(header));
    append(std::as_bytes(values));
  });
}

void write_npy(const std::string& path, const SavedRows& rows, bool force) {
  write_npy(path, rows.shape(), rows.values(), force);
}

void write_csv(const std::string& path, const std::vector<std::string>& photos,
               const SavedRows& rows, bool force) {
  write_file(path, force, [&](const std::function<void(Bytes)>& append) {
    std::string line = "path";
    const std::size_t width = rows.count() == 0 ? 0 : rows.row(0).size();
    for (std::size_t i = 0; i < width; ++i) line += fmt::format(",f{}", i);
    append(text_bytes(line + "\n"));
    for (std::size_t i = 0; i < rows.count(); ++i) {
      line = output::csv_field(photos[i]);
      // Nine digits give every float32 back.
      for (const float value : rows.row(i)) line += fmt::format(",{:.9g}", value);
      append(text_bytes(line + "\n"));
    }
  });
}

std::map<std::string, std::string> saved_metadata(const std::vector<std::string>& photos,
                                                  const std::string& model) {
  const nlohmann::json paths = photos;
  const auto replace = nlohmann::json::error_handler_t::replace;
  return {{"paths", paths.dump(-1, ' ', false, replace)}, {"model", printable(model)}};
}

}  // namespace vitascope::app
