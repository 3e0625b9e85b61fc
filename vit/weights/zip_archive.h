#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "vit/file.h"

/// \file
/// The part of the zip format that .pth and .npz files use, with every length checked.
namespace vitascope::weights {

/// A zip archive over bytes in memory. Stored entries are views; deflated ones are inflated into
/// memory of their own, bounded by what the directory states and by `max_expansion`.
class ZipArchive {
 public:
  struct Entry {
    std::string name;
    std::size_t header_offset = 0;  ///< of the local header
    std::size_t compressed = 0;
    std::size_t size = 0;
    std::uint32_t crc32 = 0;
    int method = 0;  ///< 0 stored, 8 deflated
  };

  /// Content of an entry, and what keeps it alive when it was inflated (else null: part of the file).
  struct Content {
    Bytes bytes;
    std::shared_ptr<const void> owner;
  };

  /// Reads the central directory (zip64 too).
  /// \throws InputError naming file and byte offset: no directory, entries outside the file or
  ///         overlapping, a name twice, encrypted, several disks
  static ZipArchive parse(Bytes file, const std::string& path);

  const std::vector<Entry>& entries() const { return entries_; }
  /// The entry of that name, or null.
  const Entry* find(const std::string& name) const;

  /// The bytes of an entry. Inflated content is limited to 1 GiB and to 1032 times its compressed
  /// size (deflate's own maximum), and must have the size that the directory states.
  /// \throws InputError
  Content read(const Entry& entry) const;

 private:
  Bytes file_;
  std::string path_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> index_;
};

}  // namespace vitascope::weights
