#pragma once

#include <string>

/// \file
/// What two processes must agree on that train one run after each other.
namespace vitascope::app {

/// The lines of a recipe that a run must have in common with the one that it goes on with.
/// \param recipe as config_text gives it
std::string fixed_recipe(const std::string& recipe);

/// \param before, now what fixed_recipe gives
/// \throws UsageError naming the first option that differs
void require_same_recipe(const std::string& before, const std::string& now);

}  // namespace vitascope::app
