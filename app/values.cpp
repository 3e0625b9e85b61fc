#include "app/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

constexpr int kLargestSide = 16384;  // pixels; far above any model, far below an overflow

/// N finite numbers with commas between them, or nothing.
template <typename T, std::size_t N>
std::optional<std::array<T, N>> parse_list(std::string_view text) {
  std::array<T, N> numbers{};
  for (std::size_t i = 0; i < N; ++i) {
    const std::size_t comma = text.find(',');
    const auto value = parse_whole<T>(text.substr(0, comma));
    const bool last = i + 1 == N;
    if (!value || !std::isfinite(*value) || last != (comma == std::string_view::npos)) {
      return std::nullopt;
    }
    numbers[i] = *value;
    if (!last) text.remove_prefix(comma + 1);
  }
  return numbers;
}

std::optional<int> parse_side(std::string_view text) {
  const auto side = parse_whole<int>(text);
  if (!side || *side < 1 || *side > kLargestSide) return std::nullopt;
  return side;
}

std::optional<image::Size> try_size(std::string_view text) {
  const std::size_t x = text.find('x');
  const auto height = parse_side(text.substr(0, x));
  const auto width = x == std::string_view::npos ? height : parse_side(text.substr(x + 1));
  if (!height || !width) return std::nullopt;
  return image::Size{*width, *height};
}

std::string none_of(const std::string& word, const std::vector<std::string>& names) {
  return fmt::format("{} is none of {}{}", in_quotes(word), fmt::join(names, ", "),
                     suggestion(word, names));
}

}  // namespace

std::string in_quotes(const std::string& text) { return "'" + printable(text) + "'"; }

std::string suggestion(const std::string& word, const std::vector<std::string>& names) {
  const std::string nearest = nearest_name(word, names);
  return nearest.empty() ? "" : "; did you mean " + in_quotes(nearest) + "?";
}

std::string usage_message(const std::function<void()>& parse) {
  try {
    parse();
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

CLI::Validator whole_number(long least, long most) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        const auto value = parse_whole<long>(text);
        if (value && *value >= least && *value <= most) return "";
        return fmt::format("{} is not a whole number from {} to {}", in_quotes(text), least, most);
      },
      "");
}

CLI::Validator number(double least, double most) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        const auto value = parse_whole<double>(text);
        if (value && std::isfinite(*value) && *value >= least && *value <= most) return "";
        return fmt::format("{} is not a number from {} to {}", in_quotes(text), least, most);
      },
      "");
}

CLI::Validator one_of(std::vector<std::string> names) {
  return CLI::Validator(
      [names = std::move(names)](std::string& text) -> std::string {
        for (const std::string& name : names) {
          if (name == text) return "";
        }
        return none_of(text, names);
      },
      "");
}

image::Size parse_size(const std::string& text) {
  if (const auto size = try_size(text)) return *size;
  throw UsageError(
      fmt::format("{} is not a size; expected one number or HEIGHTxWIDTH, each from 1 "
                  "to {}, as in 224 or 224x196",
                  in_quotes(text), kLargestSide));
}

std::array<float, 3> parse_channels(const std::string& text) {
  if (const auto channels = parse_list<float, 3>(text)) return *channels;
  throw UsageError(in_quotes(text) +
                   " is not three numbers (red, green, blue), as in 0.485,0.456,0.406");
}

std::pair<double, double> parse_pair(const std::string& text) {
  if (const auto pair = parse_list<double, 2>(text)) return {(*pair)[0], (*pair)[1]};
  throw UsageError(in_quotes(text) + " is not two numbers; expected A,B");
}

image::Filter parse_filter(const std::string& text) {
  std::vector<std::string> names;
  for (int code = 0; code <= static_cast<int>(image::Filter::hamming); ++code) {
    const auto filter = static_cast<image::Filter>(code);
    names.emplace_back(image::filter_name(filter));
    if (names.back() == text) return filter;
  }
  throw UsageError(none_of(text, names));
}

Resize parse_resize(const std::string& text) {
  Resize resize;
  if (text == "none") return resize;
  const std::size_t colon = text.find(':');
  const std::string mode = text.substr(0, colon);
  const std::string_view target =
      colon == std::string::npos ? "" : std::string_view(text).substr(colon + 1);
  if (mode == "shortest") {
    resize.mode = image::ResizeMode::shortest_edge;
    if (const auto edge = parse_side(target)) {
      resize.edge = *edge;
      return resize;
    }
  } else if (mode == "squash" || mode == "longest") {
    resize.mode = mode == "squash" ? image::ResizeMode::squash : image::ResizeMode::longest_edge;
    if (const auto size = try_size(target)) {
      resize.size = *size;
      return resize;
    }
  }
  throw UsageError(
      fmt::format("{} says no resizing; expected squash:SIZE (the aspect is lost), "
                  "shortest:EDGE, longest:SIZE (padded) or none, as in squash:224",
                  in_quotes(text)));
}

std::optional<image::Size> parse_crop(const std::string& text) {
  if (text == "none") return std::nullopt;
  if (const auto size = try_size(text)) return size;
  throw UsageError(in_quotes(text) +
                   " is not a crop; expected a size as in 224 or 224x196, or none");
}

}  // namespace vitascope::app
