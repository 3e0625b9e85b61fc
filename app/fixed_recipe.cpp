#include "app/fixed_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {

std::string fixed_recipe(const std::string& recipe, const std::vector<std::string>& free) {
  std::istringstream lines(recipe);
  std::string fixed;
  for (std::string line; std::getline(lines, line);) {
    line.erase(std::min(line.find("  #"), line.size()));
    const std::size_t end = line.find_last_not_of(' ');
    line.erase(end == std::string::npos ? 0 : end + 1);
    const std::string name = line.substr(0, line.find(':'));
    if (std::ranges::find(free, name) == free.end()) fixed.append(line) += '\n';
  }
  return fixed;
}

std::string fixed_recipe(const std::string& recipe) {
  return fixed_recipe(recipe, {"resume", "force", "quiet", "verbose", "threads", "processes",
                               "data", "model", "skip-check", "output"});
}

std::string recipe_difference(const std::string& before, const std::string& now) {
  std::istringstream old_lines(before);
  std::istringstream new_lines(now);
  std::string old_line;
  std::string new_line;
  while (std::getline(old_lines, old_line) && std::getline(new_lines, new_line)) {
    if (old_line != new_line)
      return fmt::format("'{}', not '{}'", printable(old_line), printable(new_line));
  }
  return "";
}

void require_same_recipe(const std::string& before, const std::string& now) {
  const std::string difference = recipe_difference(before, now);
  if (difference.empty()) return;
  throw UsageError(
      fmt::format("--resume: the run was begun with {}: give the same options, or another --output "
                  "for another run",
                  difference));
}

}  // namespace vitascope::app
