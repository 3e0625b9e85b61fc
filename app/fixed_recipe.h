#pragma once

#include <string>
#include <vector>

/// \file
/// What two processes must agree on that work at one run, beside or after each other.
namespace vitascope::app {

/// The lines of a recipe without those of some options.
/// \param recipe as config_text gives it
/// \param free   names of options that may differ
std::string fixed_recipe(const std::string& recipe, const std::vector<std::string>& free);

/// Those that a run of training must have in common with the one that it goes on with.
std::string fixed_recipe(const std::string& recipe);

/// The first option that differs, in words: "'top: 3', not 'top: 5'"; empty when none does.
/// \param before, now what fixed_recipe gives
std::string recipe_difference(const std::string& before, const std::string& now);

/// \param before, now what fixed_recipe gives
/// \throws UsageError naming the first option that differs
void require_same_recipe(const std::string& before, const std::string& now);

}  // namespace vitascope::app
