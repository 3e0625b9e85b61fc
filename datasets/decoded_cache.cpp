#include "datasets/decoded_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::datasets {
namespace {

/// Calls pread or pwrite until all is done. \return whether it is
template <typename Transfer, typename Byte>
bool transfer_all(Transfer transfer, int file, Byte* bytes, std::size_t size, std::size_t offset) {
  while (size > 0) {
    const ssize_t done = transfer(file, bytes, size, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes += done;
    size -= static_cast<std::size_t>(done);
    offset += static_cast<std::size_t>(done);
  }
  return true;
}

}  // namespace

DecodedCache::DecodedCache(const std::string& folder)
    : most_bytes_(std::numeric_limits<std::size_t>::max()) {
  std::string path = folder + "/decoded.XXXXXX";
  file_ = ::mkostemp(path.data(), O_CLOEXEC);
  if (file_ < 0) {
    throw FailureError(fmt::format("{}: no cache can be made there: {}", printable(folder),
                                   std::generic_category().message(errno)));
  }
  ::unlink(path.c_str());
}

DecodedCache::~DecodedCache() {
  if (file_ >= 0) ::close(file_);
}

std::shared_ptr<const Decoded> DecodedCache::find(std::size_t sample) const {
  Entry entry;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(sample);
    if (found == entries_.end()) return nullptr;
    entry = found->second;
  }
  if (file_ < 0) return entry.photo;
  auto photo = std::make_shared<Decoded>(*entry.photo);
  photo->picture.rgb.resize(static_cast<std::size_t>(photo->picture.size.width) *
                            static_cast<std::size_t>(photo->picture.size.height) * 3);
  const bool whole = transfer_all(::pread, file_, photo->picture.rgb.data(),
                                  photo->picture.rgb.size(), entry.offset);
  return whole ? photo : nullptr;
}

void DecodedCache::keep(std::size_t sample, std::shared_ptr<const Decoded> photo) {
  const std::size_t size = photo->picture.rgb.size();
  Entry entry;
  {
    const std::lock_guard lock(mutex_);
    if (size > most_bytes_ - bytes_ || entries_.contains(sample)) return;
    entry.offset = bytes_;
    bytes_ += size;
  }
  if (file_ >= 0) {
    auto described = std::make_shared<Decoded>(*photo);
    if (!transfer_all(::pwrite, file_, photo->picture.rgb.data(), size, entry.offset)) return;
    described->picture.rgb = {};
    photo = std::move(described);
  }
  entry.photo = std::move(photo);
  const std::lock_guard lock(mutex_);
  entries_.emplace(sample, std::move(entry));
}

std::size_t DecodedCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace vitascope::datasets
