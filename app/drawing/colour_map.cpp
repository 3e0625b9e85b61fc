#include "app/drawing/colour_map.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <opencv2/imgproc.hpp>

namespace vitascope::drawing {
namespace {

using Table = std::array<Colour, 256>;

constexpr std::array<const char*, 4> kNames{"viridis", "inferno", "turbo", "grey"};

/// OpenCV carries the published tables; its colours come as BGR.
Table from_opencv(int map) {
  cv::Mat ramp(1, 256, CV_8UC1);
  for (int i = 0; i < 256; ++i) ramp.at<std::uint8_t>(0, i) = static_cast<std::uint8_t>(i);
  cv::Mat coloured;
  cv::applyColorMap(ramp, coloured, map);
  Table result;
  for (int i = 0; i < 256; ++i) {
    const auto& bgr = coloured.at<cv::Vec3b>(0, i);
    result[static_cast<std::size_t>(i)] = {bgr[2], bgr[1], bgr[0]};
  }
  return result;
}

Table grey() {
  Table result;
  for (std::size_t i = 0; i < 256; ++i) {
    const auto level = static_cast<std::uint8_t>(i);
    result[i] = {level, level, level};
  }
  return result;
}

}  // namespace

const std::array<Colour, 256>& table(ColourMap map) {
  static const std::array<Table, 4> tables{from_opencv(cv::COLORMAP_VIRIDIS),
                                           from_opencv(cv::COLORMAP_INFERNO),
                                           from_opencv(cv::COLORMAP_TURBO), grey()};
  return tables[static_cast<std::size_t>(map)];
}

Colour colour(ColourMap map, double part) {
  return table(map)[static_cast<std::size_t>(std::lround(std::clamp(part, 0.0, 1.0) * 255))];
}

std::vector<std::string> colour_map_names() { return {kNames.begin(), kNames.end()}; }

std::optional<ColourMap> find_colour_map(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<ColourMap>(found - kNames.begin());
}

}  // namespace vitascope::drawing
