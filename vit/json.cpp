#include "vit/json.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope {
namespace {

/// Bounds nesting and finds keys that stand twice, before and beside the real parser: nlohmann's
/// own parser keeps the last of two equal keys without a word.
class Guard : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }

  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return deeper();
  }
  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    fault = fmt::format("the key '{}' stands twice in one object", printable(name));
    return false;
  }
  bool end_object() override {
    keys_.pop_back();
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    // nlohmann counts the byte that it could not take, from one on.
    fault =
        fmt::format("not JSON: unexpected content at byte {}", position == 0 ? 0 : position - 1);
    return false;
  }

  std::string fault;

 private:
  bool deeper() {
    if (++depth_ <= kJsonDepth) return true;
    fault = fmt::format("nested more than {} levels deep", kJsonDepth);
    return false;
  }

  int depth_ = 0;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& path) {
  Guard guard;
  if (!Json::sax_parse(text, &guard)) throw InputError(path, guard.fault);
  return Json::parse(text);
}

Json read_json(const std::string& path, std::size_t limit) {
  return parse_json(read_file(path, limit), path);
}

}  // namespace vitascope
