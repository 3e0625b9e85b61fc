#include "app/recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/output.h"
#include "app/recipe_file.h"
#include "app/values.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

constexpr const char* kGroup = "Recipe";

std::string with_hyphens(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
}

/// \throws UsageError beginning with `place` when no option of the command has that name
CLI::Option& find_option(CLI::App& command, const std::string& key, const std::string& place) {
  std::vector<std::string> names;
  for (CLI::Option* option : recipe_options(command)) {
    names.push_back(option->get_single_name());
    if (names.back() == with_hyphens(key)) return *option;
  }
  const std::string nearest = nearest_name(with_hyphens(key), names);
  throw UsageError(fmt::format(
      "{}: unknown key {}{}", place, in_quotes(key),
      nearest.empty()
          ? fmt::format("; 'vitascope {} --print-config' lists the keys", command.get_name())
          : "; did you mean '" + nearest + "'?"));
}

/// Gives the option a value as if it had been typed.
void give(CLI::Option& option, const RecipeEntry& entry, const std::string& place) {
  const std::string name = option.get_single_name();
  const bool takes_many = option.get_items_expected_max() > 1;
  if (is_flag(option)) {
    if (entry.is_list || (entry.values[0] != "true" && entry.values[0] != "false")) {
      throw UsageError(fmt::format("{}: {}: expected true or false, got {}", place, name,
                                   entry.is_list ? "a list" : in_quotes(entry.values[0])));
    }
  }
  try {
    if (takes_many) {
      for (const std::string& value : entry.values) option.add_result(value);
    } else {
      // A list for an option that takes "0.5,0.5,0.5".
      option.add_result(fmt::format("{}", fmt::join(entry.values, ",")));
    }
    option.run_callback();
  } catch (const CLI::Error& error) {
    throw UsageError(fmt::format("{}: {}: {}", place, name, value_error(error, option)));
  }
}

RecipeEntry parse_set(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UsageError("--set: " + in_quotes(text) + " is not key=value, as in --set batch-size=4");
  }
  RecipeEntry entry;
  entry.key = text.substr(0, equals);
  entry.values = {text.substr(equals + 1)};
  entry.is_null = entry.values[0] == "null" || entry.values[0] == "~";
  return entry;
}

/// A value in YAML: bare where that is safe, else in double quotes.
std::string yaml_scalar(const std::string& value) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,+-:";
  const bool safe = !value.empty() && value.find_first_not_of(kSafe) == std::string::npos &&
                    std::string_view("-,:").find(value.front()) == std::string_view::npos &&
                    value.back() != ':' && value.find(',') == std::string::npos;
  const bool reserved = value == "null" || value == "Null" || value == "NULL";
  return safe && !reserved ? value : output::json_string(value);
}

std::string yaml_list(const std::vector<std::string>& values) {
  std::vector<std::string> items;
  items.reserve(values.size());
  for (const std::string& value : values) items.push_back(yaml_scalar(value));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string default_text(const CLI::Option& option) {
  if (is_flag(option)) return "false";
  const std::string value = option.get_default_str();
  if (value.empty() || value == "[]") return "null";
  const bool is_bare_list = option.get_items_expected_max() > 1 && !value.starts_with('[');
  // CLI11 puts spaces between the items of a default.
  return is_bare_list ? yaml_list(CLI::detail::split(value, ' ')) : yaml_scalar(value);
}

std::string value_text(const CLI::Option& option) {
  if (option.count() == 0) return default_text(option);
  if (option.get_items_expected_max() <= 1) return yaml_scalar(option.results().back());
  return yaml_list(option.results());
}

}  // namespace

void add_recipe_options(CLI::App& command, RecipeOptions& options) {
  command.add_option("--config", options.config, "options from a YAML file; flags win over it")
      ->type_name("FILE")
      ->group(kGroup);
  command
      .add_option("--set", options.set,
                  "one option, as a YAML file would set it; wins over --config")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group(kGroup);
  command
      .add_flag("--print-config", options.print_config,
                "print every option with its source, and end")
      ->group(kGroup);
}

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

std::vector<CLI::Option*> recipe_options(CLI::App& command) {
  return command.get_options([&](CLI::Option* option) {
    return option != command.get_help_ptr() && option->get_group() != kGroup &&
           !option->get_group().empty();
  });
}

std::string value_error(const CLI::Error& error, const CLI::Option& option) {
  std::string_view text = error.what();
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    const std::string value = option.results().empty() ? "" : option.results().back();
    return fmt::format("{} is not a value that it takes ({})", in_quotes(value),
                       option.get_type_name());
  }
  const std::string prefix = option.get_name() + ": ";
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  return std::string(text);
}

Sources apply_recipe(CLI::App& command, const RecipeOptions& options) {
  Sources sources;
  for (const CLI::Option* option : recipe_options(command)) {
    if (option->count() > 0) sources[option] = "flag";
  }
  std::vector<RecipeEntry> sets;
  sets.reserve(options.set.size());
  for (const std::string& text : options.set) sets.push_back(parse_set(text));
  std::reverse(sets.begin(), sets.end());  // the last one of the same key wins
  for (const RecipeEntry& entry : sets) {
    CLI::Option& option = find_option(command, entry.key, "--set");
    if (!sources.emplace(&option, "--set").second) continue;
    if (!entry.is_null) give(option, entry, "--set");
  }
  if (options.config.empty()) return sources;
  std::map<const CLI::Option*, int> lines;
  for (const RecipeEntry& entry : read_recipe(options.config)) {
    const std::string key_place = recipe_place(options.config, entry.line, entry.column);
    CLI::Option& option = find_option(command, entry.key, key_place);
    if (const auto [first, added] = lines.emplace(&option, entry.line); !added) {
      throw UsageError(fmt::format("{}: '{}' is there already, in line {}", key_place,
                                   option.get_single_name(), first->second));
    }
    if (!sources.emplace(&option, fmt::format("{}:{}", printable(options.config), entry.line))
             .second) {
      continue;
    }
    if (!entry.is_null) {
      give(option, entry, recipe_place(options.config, entry.value_line, entry.value_column));
    }
  }
  return sources;
}

std::string config_text(CLI::App& command, const Sources& sources) {
  std::string text;
  for (const CLI::Option* option : recipe_options(command)) {
    const auto source = sources.find(option);
    text += fmt::format("{:<40}  # {}\n",
                        fmt::format("{}: {}", option->get_single_name(), value_text(*option)),
                        source == sources.end() ? "default" : source->second);
  }
  return text;
}

std::vector<OptionValue> changed_options(CLI::App& command) {
  std::vector<OptionValue> changed;
  for (const CLI::Option* option : recipe_options(command)) {
    std::string value = value_text(*option);
    if (value != default_text(*option)) {
      changed.push_back({option->get_single_name(), std::move(value)});
    }
  }
  return changed;
}

}  // namespace vitascope::app
