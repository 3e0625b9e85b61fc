#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vit/json.h"

/// \file
/// Checked access to the keys of a JSON object.
namespace vitascope {

/// One JSON object of an untrusted file. Every error is an InputError with the file's path and the
/// key as a person would look for it: `config.json: 'model_args.depth' is "many": expected ...`.
class JsonObject {
 public:
  /// \param prefix of keys in messages: "" at the root, "model_args." in that object
  /// \throws InputError when `object` is no JSON object
  JsonObject(const Json& object, std::string path, std::string prefix = "");

  /// Whether the key is there and not null.
  bool has(std::string_view key) const;
  /// The value; null when it is not there.
  const Json& value(std::string_view key) const;

  /// \throws InputError when the value is missing, no whole number, or outside the bounds
  int integer(std::string_view key, int lowest, int highest) const;
  int integer(std::string_view key, int lowest, int highest, int fallback) const;
  /// \throws InputError when the value is there and is no finite number
  double number(std::string_view key, std::optional<double> fallback = std::nullopt) const;
  bool boolean(std::string_view key, bool fallback) const;
  std::string text(std::string_view key, std::optional<std::string> fallback = std::nullopt) const;
  /// A number for both, or [rows, columns].
  std::pair<int, int> pair(std::string_view key, int lowest, int highest,
                           std::optional<std::pair<int, int>> fallback = std::nullopt) const;
  /// An object below; an empty one when it is not there.
  JsonObject object(std::string_view key) const;
  /// The objects of a list below.
  /// \throws InputError when there is no list, or anything else than an object in it
  std::vector<JsonObject> objects(std::string_view key) const;

  std::vector<std::string> keys() const;
  const std::string& path() const { return path_; }

  /// "'key' is <value>: expected ..." or "'key' is missing: expected ...".
  [[noreturn]] void fail(std::string_view key, const std::string& expected) const;

 private:
  const Json* object_;
  std::string path_, prefix_;
};

}  // namespace vitascope
