#pragma once

#include <cstddef>

/// \file
/// Memory that emulated kernels may touch.
namespace simt {

/// Memory of somebody else's that kernels may touch while this lives.
class Touchable {
 public:
  Touchable(const void* begin, std::size_t bytes);
  Touchable(const Touchable&) = delete;
  Touchable& operator=(const Touchable&) = delete;
  ~Touchable();

  /// Whether [address, address + bytes) lies in it.
  bool holds(const unsigned char* address, std::size_t bytes) const {
    return address >= begin_ && address + bytes <= end_;
  }

 private:
  const unsigned char *begin_, *end_;
};

/// Memory that kernels may touch; it begins as NaN. Before it lies a red zone that every launch
/// checks when it ends; it ends where no memory is, so that to touch what follows is a crash.
class GlobalBuffer {
 public:
  /// \param misalignment bytes that the beginning lies behind a multiple of 16
  explicit GlobalBuffer(std::size_t bytes, std::size_t misalignment = 0);
  GlobalBuffer(const GlobalBuffer&) = delete;
  GlobalBuffer& operator=(const GlobalBuffer&) = delete;
  ~GlobalBuffer();

  unsigned char* data() const { return data_; }
  std::size_t size() const { return bytes_; }
  bool red_zones_intact() const;

 private:
  std::size_t bytes_, pages_bytes_;  ///< pages_bytes_: without the page that is no memory
  unsigned char* pages_;
  unsigned char* data_;
  Touchable memory_;
};

/// Whether [address, address + bytes) lies in memory that kernels may touch.
bool is_touchable(const void* address, std::size_t bytes);

/// Whether nothing has been written outside of any GlobalBuffer.
bool all_red_zones_intact();

/// Whether memory holds what red zones, and memory before it is written, hold: NaN in every type.
bool is_poison(const unsigned char* from, const unsigned char* to);
/// Fills memory with it.
void poison(void* begin, std::size_t bytes);

}  // namespace simt
