#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "vit/error.h"
#include "vit/weights/little_endian.h"

/// \file
/// The bytes of a pickle as opcodes and their operands.
namespace vitascope::weights {

/// The opcodes of protocols 2 to 5, under the names of Python's pickle module. Left out, and so
/// refused: the text forms of protocol 0, the extension registry and out-of-band buffers.
enum class PickleOp : unsigned char {
  mark = '(',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  dup = '2',
  binint = 'J',
  binint1 = 'K',
  binint2 = 'M',
  none = 'N',
  binpersid = 'Q',
  reduce = 'R',
  binstring = 'T',
  short_binstring = 'U',
  binunicode = 'X',
  append = 'a',
  build = 'b',
  global = 'c',
  empty_dict = '}',
  appends = 'e',
  binget = 'h',
  long_binget = 'j',
  empty_list = ']',
  binput = 'q',
  long_binput = 'r',
  setitem = 's',
  tuple = 't',
  empty_tuple = ')',
  setitems = 'u',
  binfloat = 'G',
  binbytes = 'B',
  short_binbytes = 'C',
  proto = 0x80,
  newobj = 0x81,
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  newtrue = 0x88,
  newfalse = 0x89,
  long1 = 0x8a,
  long4 = 0x8b,
  short_binunicode = 0x8c,
  binunicode8 = 0x8d,
  binbytes8 = 0x8e,
  empty_set = 0x8f,
  additems = 0x90,
  frozenset = 0x91,
  newobj_ex = 0x92,
  stack_global = 0x93,
  memoize = 0x94,
  frame = 0x95,
  bytearray8 = 0x96,
};

/// Reads operations from the bytes of a pickle; what lies beyond their end is an error.
class PickleStream {
 public:
  PickleStream(Bytes data, const std::string& path) : data_(data), path_(path) {}

  /// The next operation. Errors from here on name its offset.
  PickleOp next() {
    operation_ = position_;
    return static_cast<PickleOp>(number(1));
  }
  /// An error at the present operation.
  InputError fault(const std::string& what) const {
    return InputError(path_, fmt::format("at byte {} of the pickle: {}", operation_, what));
  }
  bool at_first_operation() const { return operation_ == 0; }
  std::size_t remaining() const { return data_.size() - position_; }

  Bytes take(std::uint64_t size) {
    if (size > remaining()) {
      throw fault(
          fmt::format("{} more bytes were expected, but only {} are left", size, remaining()));
    }
    const Bytes result = data_.subspan(position_, size);
    position_ += size;
    return result;
  }
  /// An unsigned number of `width` bytes.
  std::uint64_t number(std::size_t width) { return little_endian(take(width), 0, width); }
  std::string text(std::uint64_t size) {
    const Bytes bytes = take(size);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// Text up to the next line feed, which is taken too.
  std::string line() {
    const Bytes rest = data_.subspan(position_);
    const auto end = std::find(rest.begin(), rest.end(), std::byte{'\n'});
    std::string result = text(static_cast<std::uint64_t>(end - rest.begin()));
    take(1);
    return result;
  }

 private:
  Bytes data_;
  const std::string& path_;
  std::size_t position_ = 0;
  std::size_t operation_ = 0;
};

}  // namespace vitascope::weights
