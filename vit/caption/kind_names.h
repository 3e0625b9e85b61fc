#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

/// \file
/// Enumerations and their names in files, which stand in the enumeration's order.
namespace vitascope::caption {

/// The name of a kind.
template <typename Kind, std::size_t count>
const char* name_of(const std::array<const char*, count>& names, Kind kind) {
  return names.at(static_cast<std::size_t>(kind));
}

/// The kind of a name; nothing when there is none.
template <typename Kind, std::size_t count>
std::optional<Kind> kind_named(const std::array<const char*, count>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Kind>(found - names.begin());
}

}  // namespace vitascope::caption
