#include "app/feature_store.h"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "vit/checksum.h"
#include "vit/error.h"
#include "vit/json.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int error) {
  throw FailureError(
      fmt::format("{}: cannot be written: {}", printable(path), std::strerror(error)));
}

/// A file of float32 [count, width], made longer where it is shorter. Its room is taken from the
/// disk at once: a mapped page that finds none would end the process.
at::Tensor mapped(const std::string& path, std::int64_t count, std::int64_t width) {
  const auto bytes = static_cast<std::size_t>(count * width) * sizeof(float);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) fail(path, errno);
  const int full = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
  void* data =
      full == 0 ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  const int error = full == 0 ? errno : full;
  ::close(file);
  if (data == MAP_FAILED) fail(path, error);
  return at::from_blob(
      data, {count, width}, [bytes](void* mapping) { ::munmap(mapping, bytes); }, at::kFloat);
}

std::uint32_t checksum(const at::Tensor& row) {
  return crc32_of({static_cast<const std::byte*>(row.const_data_ptr()), row.nbytes()});
}

}  // namespace

FeatureStore::FeatureStore(const std::string& folder, std::string key, std::int64_t width)
    : key_(std::move(key)), width_(width) {
  if (folder.empty()) return;
  numbers_ = folder + "/features.f32";
  index_ = folder + "/features.json";
  if (!fs::exists(index_)) return;
  try {
    read();
  } catch (const std::exception& error) {
    note_ = fmt::format("{}: features are computed anew: {}", printable(index_), error.what());
    photos_.clear();
    checksums_.clear();
    row_of_.clear();
  }
}

/// \throws std::exception that says what is wrong
void FeatureStore::read() {
  const Json json = read_json(index_);
  if (json.at("key") != key_) {
    throw std::runtime_error("they are those of another encoder or of other preprocessing");
  }
  photos_ = json.at("photos").get<std::vector<std::string>>();
  checksums_ = json.at("checksums").get<std::vector<std::uint32_t>>();
  const auto count = std::ssize(photos_);
  const auto floats = static_cast<std::int64_t>(fs::file_size(numbers_) / sizeof(float));
  if (json.at("width") != width_ || count < 1 || std::ssize(checksums_) != count ||
      count > floats / width_) {
    throw std::runtime_error("the file is damaged");
  }
  rows_ = mapped(numbers_, count, width_);
  count_ = count;
  for (std::int64_t i = 0; i < count; ++i) {
    row_of_.emplace(photos_[static_cast<std::size_t>(i)], i);
  }
}

std::optional<std::int64_t> FeatureStore::find(const std::string& photo) const {
  const auto found = row_of_.find(photo);
  if (photo.empty() || found == row_of_.end()) return std::nullopt;
  const std::int64_t row = found->second;
  if (checksum(rows_[row]) != checksums_[static_cast<std::size_t>(row)]) return std::nullopt;
  return row;
}

void FeatureStore::reserve(std::int64_t count) {
  const std::int64_t room = count_ + count;
  if (!numbers_.empty()) {
    if (count_ == 0) fs::remove(numbers_);  // somebody may still look at what was there
    rows_ = mapped(numbers_, room, width_);
    return;
  }
  const at::Tensor before = rows_;
  rows_ = at::empty({room, width_}, at::kFloat);
  if (count_ > 0) rows_.narrow(0, 0, count_).copy_(before.narrow(0, 0, count_));
}

std::int64_t FeatureStore::add(const std::string& photo, const at::Tensor& row) {
  if (!rows_.defined() || count_ >= rows_.size(0) || row.numel() != width_) {
    throw InternalError(fmt::format("feature store: no room for a row of {}", row.numel()));
  }
  const at::Tensor place = rows_[count_];
  place.copy_(row.flatten());
  photos_.push_back(photo);
  checksums_.push_back(checksum(place));
  row_of_[photo] = count_;
  changed_ = true;
  return count_++;
}

void FeatureStore::save() {
  if (!changed_ || index_.empty()) return;
  const Json json{{"key", key_}, {"width", width_}, {"photos", photos_}, {"checksums", checksums_}};
  write_file(index_, /*force=*/true, json.dump(-1, ' ', false, Json::error_handler_t::replace));
  changed_ = false;
}

}  // namespace vitascope::app
