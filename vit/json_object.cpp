#include "vit/json_object.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "vit/error.h"
#include "vit/text.h"

namespace vitascope {
namespace {

const Json kNull;
const Json kEmpty = Json::object();

/// A value as it stands in the file, on one line and not endless.
std::string shown(const Json& value) {
  constexpr std::size_t kLongest = 60;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return printable(text);
}

std::optional<int> whole_number(const Json& value, int lowest, int highest) {
  // Python writes 1.0 where it computed a size by division.
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  if (number != std::floor(number) || number < lowest || number > highest) return std::nullopt;
  return static_cast<int>(number);
}

}  // namespace

JsonObject::JsonObject(const Json& object, std::string path, std::string prefix)
    : object_(&object), path_(std::move(path)), prefix_(std::move(prefix)) {
  if (object.is_object()) return;
  const std::string name = prefix_.empty()
                               ? "the file holds"
                               : fmt::format("'{}' is", prefix_.substr(0, prefix_.size() - 1));
  throw InputError(path_, fmt::format("{} {}: expected a JSON object", name, shown(object)));
}

bool JsonObject::has(std::string_view key) const { return !value(key).is_null(); }

const Json& JsonObject::value(std::string_view key) const {
  const auto found = object_->find(key);
  return found == object_->end() ? kNull : *found;
}

int JsonObject::integer(std::string_view key, int lowest, int highest) const {
  const auto number = whole_number(value(key), lowest, highest);
  if (!number) fail(key, fmt::format("a whole number, {} to {}", lowest, highest));
  return *number;
}

int JsonObject::integer(std::string_view key, int lowest, int highest, int fallback) const {
  return has(key) ? integer(key, lowest, highest) : fallback;
}

double JsonObject::number(std::string_view key, std::optional<double> fallback) const {
  const Json& found = value(key);
  if (found.is_null() && fallback) return *fallback;
  if (!found.is_number() || !std::isfinite(found.get<double>())) fail(key, "a number");
  return found.get<double>();
}

bool JsonObject::boolean(std::string_view key, bool fallback) const {
  const Json& found = value(key);
  if (found.is_null()) return fallback;
  if (!found.is_boolean()) fail(key, "true or false");
  return found.get<bool>();
}

std::string JsonObject::text(std::string_view key, std::optional<std::string> fallback) const {
  const Json& found = value(key);
  if (found.is_null() && fallback) return *fallback;
  if (!found.is_string()) fail(key, "text");
  return found.get<std::string>();
}

std::pair<int, int> JsonObject::pair(std::string_view key, int lowest, int highest,
                                     std::optional<std::pair<int, int>> fallback) const {
  const Json& found = value(key);
  if (found.is_null() && fallback) return *fallback;
  const bool list = found.is_array() && found.size() == 2;
  const auto first = whole_number(list ? found[0] : found, lowest, highest);
  const auto second = whole_number(list ? found[1] : found, lowest, highest);
  if (!first || !second) {
    fail(key, fmt::format("a whole number, {} to {}, or two of them as [height, width]", lowest,
                          highest));
  }
  return {*first, *second};
}

JsonObject JsonObject::object(std::string_view key) const {
  const Json& found = value(key);
  return {found.is_null() ? kEmpty : found, path_, fmt::format("{}{}.", prefix_, key)};
}

std::vector<JsonObject> JsonObject::objects(std::string_view key) const {
  const Json& list = value(key);
  if (!list.is_array()) fail(key, "a list");
  std::vector<JsonObject> result;
  result.reserve(list.size());
  for (const Json& entry : list) {
    result.emplace_back(entry, path_, fmt::format("{}{}[{}].", prefix_, key, result.size()));
  }
  return result;
}

std::vector<std::string> JsonObject::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, value] : object_->items()) names.push_back(key);
  return names;
}

void JsonObject::fail(std::string_view key, const std::string& expected) const {
  const std::string name = printable(fmt::format("{}{}", prefix_, key));
  const Json& found = value(key);
  const std::string state = found.is_null() ? "missing" : shown(found);
  throw InputError(path_, fmt::format("'{}' is {}: expected {}", name, state, expected));
}

}  // namespace vitascope
