#include "datasets/csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "vit/error.h"

namespace vitascope::datasets {
namespace {

char separator_of(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char candidate : {',', ';', '\t'}) {
    const auto count = std::count(first.begin(), first.end(), candidate);
    if (count > most) best = candidate;
    most = std::max(most, count);
  }
  return best;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& path) : text_(text), path_(path) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
    separator_ = separator_of(text_);
  }

  std::vector<CsvRow> rows() {
    std::vector<CsvRow> result;
    while (at_ < text_.size()) {
      if (skip_line_end()) continue;
      result.push_back(row());
    }
    return result;
  }

 private:
  bool ended() const { return at_ == text_.size() || text_[at_] == '\n' || at_crlf(); }
  bool at_crlf() const { return text_.substr(at_).starts_with("\r\n"); }

  bool skip_line_end() {
    if (!ended() || at_ == text_.size()) return false;
    at_ += at_crlf() ? 2 : 1;
    ++line_;
    return true;
  }

  CsvRow row() {
    CsvRow row;
    row.line = line_;
    while (true) {
      row.fields.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted() : plain());
      if (ended()) break;
      ++at_;  // the separator
    }
    skip_line_end();
    return row;
  }

  std::string plain() {
    const std::size_t begin = at_;
    while (!ended() && text_[at_] != separator_) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string quoted() {
    const std::size_t first_line = line_;
    std::string field;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c != '"') {
        field += c;
      } else if (text_.substr(at_ + 1).starts_with('"')) {
        field += text_[++at_];
      } else {
        ++at_;
        if (ended() || text_[at_] == separator_) return field;
        fail(line_, "text follows a closing quote; a quote inside a field is doubled");
      }
    }
    fail(first_line, "a quote is opened and never closed");
  }

  [[noreturn]] void fail(std::size_t line, const char* what) const {
    throw InputError(path_, fmt::format("line {}: {}", line, what));
  }

  std::string_view text_;
  const std::string& path_;
  char separator_ = ',';
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

std::vector<CsvRow> parse_csv(std::string_view text, const std::string& path) {
  return Parser(text, path).rows();
}

}  // namespace vitascope::datasets
