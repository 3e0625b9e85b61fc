#include "vit/weights/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "vit/error.h"
#include "vit/text.h"
#include "vit/weights/little_endian.h"

namespace vitascope::weights {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kVersionEnd = 8;
constexpr std::size_t kMaximumHeader = 1 << 16;

/// Reads the dictionary literal, and no other Python.
class Literal {
 public:
  Literal(std::string_view text, std::size_t offset, const std::string& path)
      : text_(text), offset_(offset), path_(path) {}

  NpyHeader read() {
    NpyHeader header;
    bool dtype = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !dtype) {
        header.dtype = read_dtype();
        dtype = true;
      } else if (key == "fortran_order" && !order) {
        header.fortran_order = read_bool();
        order = true;
      } else if (key == "shape" && !shape) {
        header.shape = read_shape();
        shape = true;
      } else {
        throw fault(fmt::format("the key '{}' is unknown or stands twice", printable(key)));
      }
      if (!accept(',') && peek() != '}') throw fault("expected ',' or '}'");
    }
    if (peek() != '\0') throw fault("something follows the dictionary");
    if (!dtype || !order || !shape) throw fault("descr, fortran_order or shape is missing");
    return header;
  }

 private:
  InputError fault(const std::string& what) const {
    return {path_, fmt::format(".npy header, byte {}: {}", offset_ + position_, what)};
  }
  /// The next character that is no space; 0 at the end.
  char peek() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) {
      ++position_;
    }
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool accept(char wanted) {
    if (peek() != wanted) return false;
    ++position_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) throw fault(fmt::format("expected '{}'", wanted));
  }
  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') throw fault("expected text in quotes");
    const std::size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) throw fault("a quote is not closed");
    const std::string result(text_.substr(position_ + 1, end - position_ - 1));
    if (result.find('\\') != std::string::npos) throw fault("an escape is not expected here");
    position_ = end + 1;
    return result;
  }
  bool read_bool() {
    peek();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(position_).starts_with(word)) continue;
      position_ += word.size();
      return word == "True";
    }
    throw fault("expected True or False");
  }
  std::vector<std::int64_t> read_shape() {
    std::vector<std::int64_t> shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(read_size());
      if (!accept(',') && peek() != ')') throw fault("expected ',' or ')'");
    }
    return shape;
  }
  std::int64_t read_size() {
    if (peek() < '0' || peek() > '9') throw fault("expected a size");
    std::int64_t value = 0;
    for (; position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9';
         ++position_) {
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, text_[position_] - '0', &value)) {
        throw fault("a size does not fit in 63 bits");
      }
    }
    if (position_ < text_.size() && text_[position_] == 'L') ++position_;  // Python 2's long
    return value;
  }
  DType read_dtype();

  std::string_view text_;
  std::size_t offset_;
  std::size_t position_ = 0;
  const std::string& path_;
};

DType Literal::read_dtype() {
  if (peek() == '[') throw fault("a structured dtype, which no weight has");
  const std::string descr = quoted();
  const std::string_view kind =
      std::string_view(descr).substr(std::min<std::size_t>(1, descr.size()));
  static constexpr std::pair<std::string_view, DType> kinds[] = {
      {"f8", DType::f64}, {"f4", DType::f32}, {"f2", DType::f16},
      {"i8", DType::i64}, {"i4", DType::i32}, {"i2", DType::i16},
      {"i1", DType::i8},  {"u1", DType::u8},  {"b1", DType::boolean}};
  for (const auto& [name, dtype] : kinds) {
    if (kind != name) continue;
    if (descr[0] == '<' || (element_size(dtype) == 1 && (descr[0] == '|' || descr[0] == '>'))) {
      return dtype;
    }
    if (descr[0] == '>') {
      throw fault(fmt::format("'{}' is big-endian; save it as '<{}'", printable(descr), kind));
    }
  }
  if (kind.starts_with('O') || descr == "O") {
    throw fault("an object array is a pickle, which could run anything; save numbers");
  }
  throw fault(fmt::format("dtype '{}' is not supported; known are f8 f4 f2 i8 i4 i2 i1 u1 b1",
                          printable(descr)));
}

}  // namespace

NpyHeader parse_npy_header(Bytes array, const std::string& path) {
  const std::string_view text(reinterpret_cast<const char*>(array.data()), array.size());
  if (!text.starts_with(kMagic) || text.size() < kVersionEnd) {
    throw InputError(path, "is no .npy array: the magic string is missing at byte 0");
  }
  const auto version = little_endian(array, kMagic.size(), 1);
  if (version < 1 || version > 3) {
    throw InputError(path, fmt::format(".npy version {} at byte {} is unknown; expected 1 to 3",
                                       version, kMagic.size()));
  }
  const std::size_t width = version == 1 ? 2 : 4;
  const std::size_t begin = kVersionEnd + width;
  if (text.size() < begin || little_endian(array, kVersionEnd, width) > text.size() - begin) {
    throw InputError(path, fmt::format("is cut short: its .npy header does not end within its {} "
                                       "bytes",
                                       text.size()));
  }
  const std::size_t length = little_endian(array, kVersionEnd, width);
  if (length > kMaximumHeader) {
    throw InputError(path, fmt::format(".npy header of {} bytes, above the limit of {}", length,
                                       kMaximumHeader));
  }
  NpyHeader header = Literal(text.substr(begin, length), begin, path).read();
  header.size = begin + length;
  return header;
}

}  // namespace vitascope::weights
