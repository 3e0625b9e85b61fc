#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// \file
/// What a page carries, read back for tests.
namespace vitascope::tests {

/// What stands in the page's JSON element, before it is parsed.
inline std::string data_of(const std::string& page) {
  const std::string opening = "<script type=\"application/json\" id=\"report\">";
  const std::size_t begin = page.find(opening) + opening.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

/// The bytes that base64 stands for.
inline std::vector<unsigned char> decoded(const std::string& base64) {
  static const std::string kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes;
  unsigned group = 0;
  int bits = 0;
  for (const char digit : base64.substr(0, base64.find('='))) {
    group = group << 6 | static_cast<unsigned>(kDigits.find(digit));
    bits += 6;
    if (bits >= 8) bytes.push_back(static_cast<unsigned char>(group >> (bits -= 8)));
  }
  return bytes;
}

/// Maps number `first` and on must stand for the values of `maps` within half a step of each.
inline void expect_near(const nlohmann::json& packed, std::size_t first,
                        const std::vector<float>& maps, std::size_t cells) {
  const std::vector<unsigned char> levels = decoded(packed["levels"]);
  ASSERT_EQ(levels.size(), first * cells + maps.size());
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const std::size_t map = first + i / cells;
    const double low = packed["low"][map];
    const double step = (packed["high"][map].get<double>() - low) / 255;
    ASSERT_NEAR(low + step * levels[first * cells + i], maps[i], step * 0.500001 + 1e-9)
        << "value " << i;
  }
}

}  // namespace vitascope::tests
