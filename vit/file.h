#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

/// \file
/// Files as bytes: mapped for reading, replaced as a whole when written.
namespace vitascope {

using Bytes = std::span<const std::byte>;

/// A file mapped into memory, read only. Tensors that point into it hold it by shared_ptr.
class MappedFile {
 public:
  /// \throws InputError when the file can't be opened, is a directory, or is not a regular file
  static std::shared_ptr<const MappedFile> open(const std::string& path);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  Bytes bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

  /// Tells the kernel that the pages wholly inside `part` are not needed again: after their content
  /// was copied elsewhere, the memory of the copy is the only one. Reading them again still works.
  void release(Bytes part) const;

 private:
  MappedFile(std::string path, const std::byte* data, std::size_t size);
  std::string path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The last two parts of a path: a file's name and that of its folder, since names alone repeat
/// from folder to folder.
std::string_view name_in_folder(std::string_view path);

/// Reads a whole file, at most `limit` bytes.
/// \throws InputError when it can't be read or is larger
std::string read_file(const std::string& path, std::size_t limit);

/// Fails early, before any work, when `path` could not be written: its folder is missing or not
/// writable, it is a folder, or it exists and `force` is false.
/// \throws UsageError that says which
void check_writable(const std::string& path, bool force);

/// Writes a file as a whole: to a temporary name beside it, fsync, rename, fsync of the folder.
/// `write` is given a function that appends bytes. After an exception nothing is left behind.
/// \throws UsageError when `path` exists and `force` is false; FailureError when writing fails
void write_file(const std::string& path, bool force,
                const std::function<void(const std::function<void(Bytes)>&)>& write);
void write_file(const std::string& path, bool force, std::string_view text);

}  // namespace vitascope
