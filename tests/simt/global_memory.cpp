#include "tests/simt/global_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

namespace simt {
namespace {

constexpr unsigned char kPoison = 0xFF;
constexpr std::size_t kPage = 4096;  ///< one before the data is its red zone

std::vector<const Touchable*>& touchable() {
  static std::vector<const Touchable*> list;
  return list;
}
std::vector<const GlobalBuffer*>& buffers() {
  static std::vector<const GlobalBuffer*> list;
  return list;
}

}  // namespace

Touchable::Touchable(const void* begin, std::size_t bytes)
    : begin_(static_cast<const unsigned char*>(begin)), end_(begin_ + bytes) {
  touchable().push_back(this);
}

Touchable::~Touchable() { std::erase(touchable(), this); }

namespace {

std::size_t pages_for(std::size_t bytes) {
  return (bytes + 16 + kPage - 1) / kPage * kPage + kPage;
}

/// Pages of poison with one behind them that is no memory.
unsigned char* map_pages(std::size_t bytes) {
  void* pages =
      mmap(nullptr, bytes + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  std::memset(pages, kPoison, bytes);
  mprotect(static_cast<unsigned char*>(pages) + bytes, kPage, PROT_NONE);
  return static_cast<unsigned char*>(pages);
}

/// As near to the end of the pages as alignment lets the data come.
unsigned char* last_place(unsigned char* end, std::size_t bytes, std::size_t misalignment) {
  const auto last = reinterpret_cast<std::uintptr_t>(end) - bytes - misalignment % 16;
  return reinterpret_cast<unsigned char*>(last / 16 * 16 + misalignment % 16);
}

}  // namespace

GlobalBuffer::GlobalBuffer(std::size_t bytes, std::size_t misalignment)
    : bytes_(bytes),
      pages_bytes_(pages_for(bytes)),
      pages_(map_pages(pages_bytes_)),
      data_(last_place(pages_ + pages_bytes_, bytes, misalignment)),
      memory_(data_, bytes) {
  buffers().push_back(this);
}

GlobalBuffer::~GlobalBuffer() {
  std::erase(buffers(), this);
  munmap(pages_, pages_bytes_ + kPage);
}

bool GlobalBuffer::red_zones_intact() const {
  return is_poison(pages_, data_) && is_poison(data_ + bytes_, pages_ + pages_bytes_);
}

bool is_touchable(const void* address, std::size_t bytes) {
  return std::ranges::any_of(touchable(), [&](const Touchable* memory) {
    return memory->holds(static_cast<const unsigned char*>(address), bytes);
  });
}

bool all_red_zones_intact() {
  return std::ranges::all_of(buffers(), &GlobalBuffer::red_zones_intact);
}

bool is_poison(const unsigned char* from, const unsigned char* to) {
  return std::all_of(from, to, [](unsigned char byte) { return byte == kPoison; });
}

void poison(void* begin, std::size_t bytes) { std::memset(begin, kPoison, bytes); }

}  // namespace simt
