#include "vit/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <utility>

#include "vit/error.h"
#include "vit/text.h"

namespace vitascope {
namespace {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  /// Closes now and tells whether that worked; a full disk may show only here.
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

std::string reason() { return std::strerror(errno); }

struct OpenFile {
  int number;
  std::size_t size;
};

OpenFile open_regular(const std::string& path) {
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (number < 0) throw InputError(path, fmt::format("can't be opened: {}", reason()));
  struct stat status {};
  if (::fstat(number, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(number);
    throw InputError(
        path, S_ISDIR(status.st_mode) ? "is a folder, expected a file" : "is not a regular file");
  }
  return {number, static_cast<std::size_t>(status.st_size)};
}

std::string folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

void write_all(int file, Bytes bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      throw FailureError(fmt::format("{}: writing failed: {}", printable(path), reason()));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

/// Without it a power failure may take the new name back. Some file systems can't; nothing is lost
/// by that now.
void synchronise_folder(const std::string& folder) {
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.number() >= 0) ::fsync(opened.number());
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  const OpenFile opened = open_regular(path);
  const Descriptor file(opened.number);
  const std::byte* data = nullptr;
  if (opened.size > 0) {
    void* mapped = ::mmap(nullptr, opened.size, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (mapped == MAP_FAILED) throw InputError(path, fmt::format("can't be mapped: {}", reason()));
    data = static_cast<const std::byte*>(mapped);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(path, data, opened.size));
}

MappedFile::MappedFile(std::string path, const std::byte* data, std::size_t size)
    : path_(std::move(path)), data_(data), size_(size) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::release(Bytes part) const {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

std::string_view name_in_folder(std::string_view path) {
  const std::size_t name = path.rfind('/');
  if (name == std::string_view::npos || name == 0) return path;
  const std::size_t folder = path.rfind('/', name - 1);
  return folder == std::string_view::npos ? path : path.substr(folder + 1);
}

std::string read_file(const std::string& path, std::size_t limit) {
  const OpenFile opened = open_regular(path);
  const Descriptor file(opened.number);
  if (opened.size > limit) {
    throw InputError(path, fmt::format("is {} large, expected at most {}", byte_count(opened.size),
                                       byte_count(limit)));
  }
  std::string text(opened.size, '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::read(file.number(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw InputError(path, fmt::format("can't be read: {}", reason()));
    if (got == 0) break;  // shrank meanwhile
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

void check_writable(const std::string& path, bool force) {
  std::error_code ignored;
  const std::string folder = folder_of(path);
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw UsageError(
        fmt::format("{}: the folder '{}' does not exist", printable(path), printable(folder)));
  }
  if (std::filesystem::is_directory(path, ignored)) {
    throw UsageError(fmt::format("{}: is a folder, expected the name of a file", printable(path)));
  }
  if (!force && std::filesystem::exists(path, ignored)) {
    throw UsageError(fmt::format("{}: exists already; --force overwrites it", printable(path)));
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    throw UsageError(fmt::format("{}: the folder '{}' can't be written: {}", printable(path),
                                 printable(folder), reason()));
  }
}

void write_file(const std::string& path, bool force,
                const std::function<void(const std::function<void(Bytes)>&)>& write) {
  check_writable(path, force);
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.number() < 0) {
    throw FailureError(fmt::format("{}: can't be created: {}", printable(path), reason()));
  }
  try {
    write([&](Bytes bytes) { write_all(file.number(), bytes, path); });
    const bool written = ::fsync(file.number()) == 0;
    if (!file.close() || !written || ::rename(temporary.c_str(), path.c_str()) != 0) {
      throw FailureError(fmt::format("{}: writing failed: {}", printable(path), reason()));
    }
    synchronise_folder(folder_of(path));
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void write_file(const std::string& path, bool force, std::string_view text) {
  write_file(path, force, [&](const std::function<void(Bytes)>& append) {
    append(std::as_bytes(std::span(text)));
  });
}

}  // namespace vitascope
