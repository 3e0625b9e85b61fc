#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "vit/file.h"

/// \file
/// The part of the zip format that .pth and .npz files use, with every length checked (PKWARE's
/// APPNOTE.TXT 6.3.10).
namespace vitascope::weights {

/// A zip archive over bytes in memory. Stored entries are views; deflated ones are inflated into
/// memory of their own, bounded by what the directory states and by the limits below.
class ZipArchive {
 public:
  /// Largest content of one deflated entry.
  static constexpr std::uint64_t kMaximumInflated = std::uint64_t{1} << 30;
  /// Deflate can't expand further than this; an entry that states more lies.
  static constexpr std::uint64_t kMaximumExpansion = 1032;
  /// All deflated entries together: kMaximumInflated and this many times the size of the file.
  static constexpr std::uint64_t kMaximumTotalExpansion = 8;

  struct Entry {
    std::string name;
    std::size_t header_offset = 0;  ///< of the local header
    std::size_t data_offset = 0;    ///< of the content
    std::size_t compressed = 0;
    std::size_t size = 0;
    std::uint32_t crc32 = 0;
    int method = 0;  ///< 0 stored, 8 deflated
  };

  /// Content of an entry, and what keeps it alive when it was inflated (else null: part of the
  /// file).
  struct Content {
    Bytes bytes;
    std::shared_ptr<const void> owner;
  };

  /// Reads the central directory (zip64 too) and the local headers.
  /// \throws InputError naming file and byte offset: no directory, entries outside the file or
  ///         overlapping, a name twice, encrypted, several disks, more to inflate than the limits
  static ZipArchive parse(Bytes file, const std::string& path);

  const std::vector<Entry>& entries() const { return entries_; }
  /// The entry of that name, or null.
  const Entry* find(const std::string& name) const;

  /// The bytes of an entry. Inflated content must have the size and the CRC that the directory
  /// states. The CRC of a stored entry is not checked: that would read every weight once more.
  /// \throws InputError
  Content read(const Entry& entry) const;

 private:
  Bytes file_;
  std::string path_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> index_;
};

}  // namespace vitascope::weights
