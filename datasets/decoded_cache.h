#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "vit/image/picture.h"

/// \file
/// Photos that stay decoded from epoch to epoch.
namespace vitascope::datasets {

/// A photo decoded as far as any of its crops needs it.
struct Decoded {
  image::Picture picture;
  image::Size drawn;  ///< the size in which crops are drawn: before a JPEG was shrunk in decoding
};

/// Keeps decoded photos in memory or in a file without a name, which ends with the process. When
/// there is no more room, later photos are not kept. Threads may share it.
class DecodedCache {
 public:
  /// In memory.
  explicit DecodedCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}
  /// On disk, in a folder.
  /// \throws FailureError when no file can be made there
  explicit DecodedCache(const std::string& folder);
  ~DecodedCache();
  DecodedCache(const DecodedCache&) = delete;
  DecodedCache& operator=(const DecodedCache&) = delete;

  /// The photo of a sample, or null.
  std::shared_ptr<const Decoded> find(std::size_t sample) const;
  void keep(std::size_t sample, std::shared_ptr<const Decoded> photo);

  /// Bytes of pixels that are kept.
  std::size_t bytes() const;

 private:
  struct Entry {
    std::shared_ptr<const Decoded> photo;  ///< on disk without its pixels
    std::size_t offset = 0;                ///< of these in the file
  };

  std::size_t most_bytes_;
  int file_ = -1;
  mutable std::mutex mutex_;
  std::size_t bytes_ = 0;  ///< kept, or in the file even where writing failed
  std::unordered_map<std::size_t, Entry> entries_;
};

}  // namespace vitascope::datasets
