#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

/// \file
/// Where the value of an option comes from: defaults < YAML file < --set key=value < flags.
namespace vitascope::app {

/// --config, --set and --print-config, which every command has.
struct RecipeOptions {
  std::string config;
  std::vector<std::string> set;
  bool print_config = false;
};

/// Declares --config, --set and --print-config.
void add_recipe_options(CLI::App& command, RecipeOptions& options);

/// Source of an option's value: "configs/x.yaml:3", "--set", "flag"; absent: the default.
using Sources = std::map<const CLI::Option*, std::string>;

/// After parsing: gives every option that has no flag the value of --set or of the YAML file,
/// through the option's own checks and conversion. Keys are the long names; '-' and '_' are the
/// same. \throws UsageError naming file, line and column (or --set) and what is wrong: an unknown
/// key with
///         the nearest right one, a list or a map where a single value is expected, a refused value
Sources apply_recipe(CLI::App& command, const RecipeOptions& options);

/// The options that a recipe may set, in the order of --help.
std::vector<CLI::Option*> recipe_options(CLI::App& command);

/// All values as YAML, the source of each in a comment.
std::string config_text(CLI::App& command, const Sources& sources);

/// An option and its value as YAML.
struct OptionValue {
  std::string name, value;
};

/// The options whose value is not the default, in the order of --help.
std::vector<OptionValue> changed_options(CLI::App& command);

/// True for an option that takes no value.
bool is_flag(const CLI::Option& option);

/// CLI11's error in our words, without its "--name: ".
std::string value_error(const CLI::Error& error, const CLI::Option& option);

}  // namespace vitascope::app
