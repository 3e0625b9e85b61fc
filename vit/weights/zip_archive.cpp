#include "vit/weights/zip_archive.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "vit/checksum.h"
#include "vit/error.h"
#include "vit/text.h"
#include "vit/weights/little_endian.h"

namespace vitascope::weights {
namespace {

constexpr std::size_t kLocalHeader = 30;
constexpr std::size_t kDirectoryHeader = 46;
constexpr std::size_t kEndRecord = 22;
constexpr std::size_t kEndLocator64 = 20;
constexpr std::size_t kEndRecord64 = 56;
constexpr std::uint64_t kIn64 = 0xffffffff;  ///< "see the zip64 field"
constexpr std::uint64_t kIn64Short = 0xffff;
constexpr std::uint64_t kEncrypted = 0x2041;  ///< flags: encrypted, strongly, or the directory is

bool has_signature(Bytes file, std::size_t offset, const char (&signature)[5]) {
  return little_endian(file, offset, 4) == little_endian(std::as_bytes(std::span(signature)), 0, 4);
}

/// Where the central directory lies and how many entries it has.
struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t entries = 0;
};

/// The end record closes the file; a comment may follow it, whose length must fit exactly.
std::size_t find_end_record(Bytes file, const std::string& path) {
  const std::size_t furthest = std::min<std::size_t>(file.size(), kEndRecord + 0xffff);
  for (std::size_t back = kEndRecord; back <= furthest; ++back) {
    const std::size_t offset = file.size() - back;
    if (has_signature(file, offset, "PK\5\6") &&
        little_endian(file, offset + 20, 2) == back - kEndRecord) {
      return offset;
    }
  }
  throw InputError(path, fmt::format("has no zip directory at its end (byte {}): it is cut short "
                                     "or is no zip archive; download it again",
                                     file.size()));
}

Directory read_end_record(Bytes file, const std::string& path) {
  std::size_t end = find_end_record(file, path);
  std::uint64_t disks = little_endian(file, end + 4, 2) | little_endian(file, end + 6, 2);
  Directory directory{little_endian(file, end + 16, 4), little_endian(file, end + 12, 4),
                      little_endian(file, end + 10, 2)};
  if (end >= kEndLocator64 && has_signature(file, end - kEndLocator64, "PK\6\7")) {
    const std::uint64_t end64 = little_endian(file, end - kEndLocator64 + 8, 8);
    if (end64 > end - kEndLocator64 || end - kEndLocator64 - end64 < kEndRecord64 ||
        !has_signature(file, end64, "PK\6\6")) {
      throw InputError(path, fmt::format("the zip64 locator at byte {} points at byte {}, where no "
                                         "zip64 end record is",
                                         end - kEndLocator64, end64));
    }
    disks = little_endian(file, end64 + 16, 4) | little_endian(file, end64 + 20, 4);
    directory = {little_endian(file, end64 + 48, 8), little_endian(file, end64 + 40, 8),
                 little_endian(file, end64 + 32, 8)};
    end = end64;
  }
  if (disks != 0) {
    throw InputError(path, fmt::format("the zip end record at byte {} speaks of several disks, "
                                       "which is not supported",
                                       end));
  }
  if (directory.offset > end || directory.size > end - directory.offset) {
    throw InputError(path,
                     fmt::format("the zip directory, {} bytes at byte {}, does not end before "
                                 "its end record at byte {}",
                                 directory.size, directory.offset, end));
  }
  if (directory.entries > directory.size / kDirectoryHeader) {
    throw InputError(path, fmt::format("the zip directory at byte {} states {} entries, too many "
                                       "for its {} bytes",
                                       directory.offset, directory.entries, directory.size));
  }
  return directory;
}

/// Sizes of 4 GiB and more stand in an extra field, in this order and only where the header says
/// so.
void read_zip64_field(Bytes extra, ZipArchive::Entry& entry, const InputError& fault) {
  while (extra.size() >= 4) {
    const std::uint64_t id = little_endian(extra, 0, 2);
    const std::uint64_t size = little_endian(extra, 2, 2);
    if (size > extra.size() - 4) throw fault;
    Bytes field = extra.subspan(4, size);
    extra = extra.subspan(4 + size);
    if (id != 1) continue;
    for (std::size_t* value : {&entry.size, &entry.compressed, &entry.header_offset}) {
      if (*value != kIn64) continue;
      if (field.size() < 8) throw fault;
      *value = little_endian(field, 0, 8);
      field = field.subspan(8);
    }
    return;
  }
}

/// Reads the directory's header at `offset` and moves `offset` behind it; all lies before `end`.
ZipArchive::Entry read_directory_header(Bytes file, std::size_t& offset, std::size_t end,
                                        const std::string& path) {
  if (end - offset < kDirectoryHeader || !has_signature(file, offset, "PK\1\2")) {
    throw InputError(path, fmt::format("expected the header of a zip entry at byte {}", offset));
  }
  const std::size_t name = little_endian(file, offset + 28, 2);
  const std::size_t extra = little_endian(file, offset + 30, 2);
  const std::size_t comment = little_endian(file, offset + 32, 2);
  if (name + extra + comment > end - offset - kDirectoryHeader) {
    throw InputError(path, fmt::format("the zip entry at byte {} is longer than the directory, "
                                       "which ends at byte {}",
                                       offset, end));
  }
  ZipArchive::Entry entry;
  entry.name.assign(reinterpret_cast<const char*>(file.data()) + offset + kDirectoryHeader, name);
  entry.method = static_cast<int>(little_endian(file, offset + 10, 2));
  entry.crc32 = static_cast<std::uint32_t>(little_endian(file, offset + 16, 4));
  entry.compressed = little_endian(file, offset + 20, 4);
  entry.size = little_endian(file, offset + 24, 4);
  entry.header_offset = little_endian(file, offset + 42, 4);
  const auto fault = [&](const char* what) {
    return InputError(
        path, fmt::format("zip entry '{}' at byte {} {}", printable(entry.name), offset, what));
  };
  read_zip64_field(file.subspan(offset + kDirectoryHeader + name, extra), entry,
                   fault("has a damaged extra field"));
  if ((little_endian(file, offset + 8, 2) & kEncrypted) != 0) {
    throw fault("is encrypted, which is not supported");
  }
  if (little_endian(file, offset + 34, 2) != 0 && little_endian(file, offset + 34, 2) != kIn64Short)
    throw fault("lies on another disk, which is not supported");
  if (entry.method == 0 && entry.compressed != entry.size) {
    throw fault("is stored, yet states two different sizes");
  }
  offset += kDirectoryHeader + name + extra + comment;
  return entry;
}

/// Finds the content by the local header, which must be that of the same entry.
void locate_content(Bytes file, std::size_t directory, ZipArchive::Entry& entry,
                    const std::string& path) {
  const auto fault = [&](const std::string& what) {
    return InputError(path, fmt::format("zip entry '{}', whose local header is stated at byte {}, "
                                        "{}",
                                        printable(entry.name), entry.header_offset, what));
  };
  if (entry.header_offset > directory || directory - entry.header_offset < kLocalHeader ||
      !has_signature(file, entry.header_offset, "PK\3\4")) {
    throw fault("has no local header there");
  }
  const std::size_t name = little_endian(file, entry.header_offset + 26, 2);
  const std::size_t extra = little_endian(file, entry.header_offset + 28, 2);
  const std::size_t room = directory - entry.header_offset - kLocalHeader;
  if (name + extra > room || entry.compressed > room - name - extra) {
    throw fault(fmt::format("does not end before the directory at byte {}", directory));
  }
  const std::string_view local(
      reinterpret_cast<const char*>(file.data()) + entry.header_offset + kLocalHeader, name);
  if (local != entry.name) throw fault(fmt::format("is called '{}' there", printable(local)));
  entry.data_offset = entry.header_offset + kLocalHeader + name + extra;
}

/// Entries that share bytes make small files that expand without end.
void check_overlaps(std::vector<const ZipArchive::Entry*> entries, const std::string& path) {
  std::sort(entries.begin(), entries.end(),
            [](const auto* a, const auto* b) { return a->header_offset < b->header_offset; });
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const std::size_t end = entries[i - 1]->data_offset + entries[i - 1]->compressed;
    if (end > entries[i]->header_offset) {
      throw InputError(path, fmt::format("zip entries '{}' and '{}' overlap at byte {}",
                                         printable(entries[i - 1]->name),
                                         printable(entries[i]->name), entries[i]->header_offset));
    }
  }
}

void check_expansion(const std::vector<ZipArchive::Entry>& entries, Bytes file,
                     const std::string& path) {
  std::uint64_t total = 0;
  for (const ZipArchive::Entry& entry : entries) {
    if (entry.method == 0) continue;
    if (entry.size > ZipArchive::kMaximumInflated ||
        entry.size > ZipArchive::kMaximumExpansion * entry.compressed) {
      throw InputError(path,
                       fmt::format("zip entry '{}' at byte {} states that {} bytes inflate to "
                                   "{}; the limits are 1 GiB and {} times",
                                   printable(entry.name), entry.header_offset, entry.compressed,
                                   entry.size, ZipArchive::kMaximumExpansion));
    }
    total += entry.size;
  }
  if (total / ZipArchive::kMaximumTotalExpansion >
      file.size() + ZipArchive::kMaximumInflated / ZipArchive::kMaximumTotalExpansion) {
    throw InputError(path, fmt::format("states that its zip entries inflate to {}, from a file of "
                                       "{}; the limit is 1 GiB and {} times the file",
                                       byte_count(total), byte_count(file.size()),
                                       ZipArchive::kMaximumTotalExpansion));
  }
}

/// Inflates raw deflate data that must give exactly `result`.
bool inflate_into(Bytes compressed, std::vector<std::byte>& result) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw FailureError("zlib: out of memory");
  // zlib counts in 32 bits, and the compressed side may be larger: it is handed over in pieces.
  std::byte spare{};  // a place to write when `result` is empty
  stream.next_out = reinterpret_cast<Bytef*>(result.empty() ? &spare : result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  int status = Z_OK;
  while (status == Z_OK && !compressed.empty()) {
    const std::size_t piece = std::min<std::size_t>(compressed.size(), 1u << 30);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(compressed.data()));
    stream.avail_in = static_cast<uInt>(piece);
    status = inflate(&stream, Z_NO_FLUSH);
    compressed = compressed.subspan(piece - stream.avail_in);
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END && stream.avail_out == 0 && compressed.empty();
}

}  // namespace

ZipArchive ZipArchive::parse(Bytes file, const std::string& path) {
  const Directory directory = read_end_record(file, path);
  ZipArchive archive;
  archive.file_ = file;
  archive.path_ = path;
  archive.entries_.reserve(directory.entries);
  std::size_t offset = directory.offset;
  std::vector<const Entry*> pointers;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    Entry entry = read_directory_header(file, offset, directory.offset + directory.size, path);
    locate_content(file, directory.offset, entry, path);
    if (!archive.index_.emplace(entry.name, i).second) {
      throw InputError(path, fmt::format("holds the zip entry '{}' twice, again at byte {}",
                                         printable(entry.name), entry.header_offset));
    }
    archive.entries_.push_back(std::move(entry));
    pointers.push_back(&archive.entries_.back());
  }
  check_overlaps(std::move(pointers), path);
  check_expansion(archive.entries_, file, path);
  return archive;
}

const ZipArchive::Entry* ZipArchive::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second];
}

ZipArchive::Content ZipArchive::read(const Entry& entry) const {
  const auto fault = [&](const std::string& what) {
    return InputError(path_, fmt::format("zip entry '{}' at byte {} {}", printable(entry.name),
                                         entry.data_offset, what));
  };
  const Bytes stored = file_.subspan(entry.data_offset, entry.compressed);
  if (entry.method == 0) return {stored, nullptr};
  if (entry.method != Z_DEFLATED) {
    throw fault(
        fmt::format("is compressed by method {}; only stored (0) and deflated (8) entries "
                    "are supported",
                    entry.method));
  }
  auto content = std::make_shared<std::vector<std::byte>>(entry.size);
  if (!inflate_into(stored, *content)) {
    throw fault(
        fmt::format("is damaged: it does not inflate to the {} bytes that the directory "
                    "states",
                    entry.size));
  }
  if (crc32_of(*content) != entry.crc32) {
    throw fault("is damaged: its checksum differs from the directory's");
  }
  return {*content, content};
}

}  // namespace vitascope::weights
