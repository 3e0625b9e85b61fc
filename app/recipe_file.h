#pragma once

#include <string>
#include <vector>

/// \file
/// The YAML of a recipe: a flat map of keys to single values or lists of them.
namespace vitascope::app {

/// One line of a recipe.
struct RecipeEntry {
  std::string key;
  std::vector<std::string> values;  ///< one, or the items of a list
  bool is_list = false;
  bool is_null = false;      ///< "key:", "key: null" or "key: ~": leave it at its default
  int line = 0, column = 0;  ///< of the key, counted from 1
  int value_line = 0, value_column = 0;  ///< of the value
};

/// Reads a recipe from `text`; `path` is what errors call it.
/// \throws UsageError with line and column: not YAML, not a map, a key twice, nested more deeply
/// than
///         a list of values, an anchor, an alias or a tag
std::vector<RecipeEntry> parse_recipe(const std::string& text, const std::string& path);

/// Reads the file at `path`, at most 1 MB.
/// \throws UsageError as above or when it can't be read
std::vector<RecipeEntry> read_recipe(const std::string& path);

/// "path:line:column", counted from 1.
std::string recipe_place(const std::string& path, int line, int column);

}  // namespace vitascope::app
