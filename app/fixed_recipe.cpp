#include "app/fixed_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

/// Options that may differ when a run goes on.
bool may_change(const std::string& name) {
  for (const char* free : {"resume", "force", "quiet", "verbose", "threads", "processes", "data",
                           "model", "skip-check"}) {
    if (name == free) return true;
  }
  return false;
}

}  // namespace

std::string fixed_recipe(const std::string& recipe) {
  std::istringstream lines(recipe);
  std::string fixed;
  for (std::string line; std::getline(lines, line);) {
    line.erase(std::min(line.find("  #"), line.size()));
    const std::size_t end = line.find_last_not_of(' ');
    line.erase(end == std::string::npos ? 0 : end + 1);
    const std::string name = line.substr(0, line.find(':'));
    if (!may_change(name) && name != "output") fixed += line + '\n';
  }
  return fixed;
}

void require_same_recipe(const std::string& before, const std::string& now) {
  std::istringstream old_lines(before);
  std::istringstream new_lines(now);
  std::string old_line;
  std::string new_line;
  while (std::getline(old_lines, old_line) && std::getline(new_lines, new_line)) {
    if (old_line == new_line) continue;
    throw UsageError(
        fmt::format("--resume: the run was begun with '{}', not '{}': give the same "
                    "options, or another --output for another run",
                    printable(old_line), printable(new_line)));
  }
}

}  // namespace vitascope::app
