#include "app/report/page_json.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "app/report/packed_maps.h"

namespace vitascope::app::report {
namespace {

/// The double whose shortest decimal is that of the float: nine digits in the page, not seventeen.
double short_decimal(float value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  double result = 0;
  std::from_chars(text.data(), end, result);
  return result;
}

Json numbers(const std::vector<float>& values) {
  Json array = Json::array();
  for (const float value : values) array.push_back(short_decimal(value));
  return array;
}

}  // namespace

Json packed(std::span<const float> maps, std::size_t cells, const std::string& name) {
  const PackedMaps result = pack(maps, cells, name);
  return {{"low", numbers(result.low)}, {"high", numbers(result.high)}, {"levels", result.levels}};
}

Json rectangle(const image::Rectangle& edges) {
  return {edges.left, edges.top, edges.right - edges.left, edges.bottom - edges.top};
}

// These characters occur within strings only, where an escape says the same.
std::string for_script(const Json& json) {
  const std::string text = json.dump();
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view separator = std::string_view(text).substr(i, 3);
    if (text[i] == '<' || text[i] == '>' || text[i] == '&') {
      safe += fmt::format("\\u{:04x}", static_cast<int>(text[i]));
    } else if (separator == "\u2028" || separator == "\u2029") {
      safe += separator == "\u2028" ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      safe.push_back(text[i]);
    }
  }
  return safe;
}

}  // namespace vitascope::app::report
