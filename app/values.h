#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vit/image/specification.h"

/// \file
/// What the values of options must look like. The same checks serve the command line, --set and
/// YAML.
namespace vitascope::app {

/// A whole number in [least, most].
CLI::Validator whole_number(long least, long most);

/// A finite number in [least, most].
CLI::Validator number(double least, double most);

/// One of `names`; a near miss is answered with the name that was probably meant.
CLI::Validator one_of(std::vector<std::string> names);

/// The number that all of `text` is, or nothing.
template <typename T>
std::optional<T> parse_whole(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

/// "120,80".
/// \throws UsageError
std::pair<double, double> parse_pair(const std::string& text);

/// "; did you mean 'bicubic'?", or nothing where no name is near.
std::string suggestion(const std::string& word, const std::vector<std::string>& names);

/// "224" or "224x196" (height x width).
/// \throws UsageError saying what was got and what was expected
image::Size parse_size(const std::string& text);

/// "0.485,0.456,0.406".
/// \throws UsageError
std::array<float, 3> parse_channels(const std::string& text);

/// "bicubic", ... as image::filter_name spells it.
/// \throws UsageError naming the nearest one
image::Filter parse_filter(const std::string& text);

/// --resize: how, and to what.
struct Resize {
  image::ResizeMode mode = image::ResizeMode::none;
  image::Size size;  ///< of squash and longest
  int edge = 0;      ///< of shortest
};

/// "squash:224", "squash:224x196", "shortest:256", "longest:224" or "none".
/// \throws UsageError
Resize parse_resize(const std::string& text);

/// "224", "224x196" or "none".
/// \throws UsageError
std::optional<image::Size> parse_crop(const std::string& text);

/// What a message calls the thing: "'abc'", with control characters escaped.
std::string in_quotes(const std::string& text);

/// The message of the UsageError that `parse` throws, or "" when it throws none.
std::string usage_message(const std::function<void()>& parse);

/// A validator for CLI11 that accepts what `parse` takes without a UsageError.
template <typename Parse>
CLI::Validator accepted_by(Parse parse) {
  return CLI::Validator([parse](std::string& text) { return usage_message([&] { parse(text); }); },
                        "");
}

}  // namespace vitascope::app
