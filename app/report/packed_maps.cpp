#include "app/report/packed_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "vit/error.h"

namespace vitascope::app::report {

PackedMaps pack(std::span<const float> maps, std::size_t cells, const std::string& name) {
  if (cells == 0 || maps.empty() || maps.size() % cells != 0) {
    throw InternalError(fmt::format("report: {} holds {} values, expected a multiple of {} cells",
                                    name, maps.size(), cells));
  }
  if (!std::all_of(maps.begin(), maps.end(), [](float value) { return std::isfinite(value); })) {
    throw InternalError(fmt::format("report: {} holds NaN or infinity", name));
  }
  PackedMaps packed;
  std::string levels;
  levels.reserve(maps.size());
  for (; !maps.empty(); maps = maps.subspan(cells)) {
    const auto map = maps.first(cells);
    const auto [low, high] = std::minmax_element(map.begin(), map.end());
    // In double, where the difference of two floats can't overflow.
    const double step = (static_cast<double>(*high) - *low) / 255;
    for (const float value : map) {
      const double level = step > 0 ? (static_cast<double>(value) - *low) / step : 0;
      levels.push_back(static_cast<char>(static_cast<std::uint8_t>(std::lround(level))));
    }
    packed.low.push_back(*low);
    packed.high.push_back(*high);
  }
  packed.levels = base64(levels);
  return packed;
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(3, bytes.size()))) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size());
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < count ? static_cast<std::uint8_t>(bytes[i]) : 0u);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text.push_back(i <= count ? kDigits[group >> (18 - 6 * i) & 63] : '=');
    }
  }
  return text;
}

}  // namespace vitascope::app::report
