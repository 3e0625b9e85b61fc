#include "app/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "app/recipe.h"

namespace vitascope::app {
namespace {

/// What stands left: names and value, or a positional's name.
std::string left_column(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::string value = type.substr(0, type.find(":{"));
  if (!option.nonpositional()) return value + (option.get_items_expected_max() > 1 ? "..." : "");
  std::string names = option.get_snames().empty() ? "    " : "-" + option.get_snames()[0] + ", ";
  if (!option.get_lnames().empty()) names += "--" + option.get_lnames()[0];
  return is_flag(option) || value.empty() ? names : names + " " + value;
}

std::string right_column(const CLI::Option& option) {
  const std::string value = option.get_default_str();
  if (is_flag(option) || value.empty() || value == "[]") return option.get_description();
  return fmt::format("{} [default: {}]", option.get_description(), value);
}

using Lines = std::vector<std::pair<std::string, std::string>>;

std::string columns(const Lines& lines, std::size_t width) {
  std::string text;
  for (const auto& [left, right] : lines) text += fmt::format("  {:<{}}  {}\n", left, width, right);
  return text;
}

std::string options_help(const CLI::App& app) {
  std::vector<std::pair<std::string, Lines>> groups;
  std::size_t width = 0;
  for (const CLI::Option* option : app.get_options()) {
    const std::string& group = option->get_group();
    if (group.empty()) continue;
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& known) { return known.first == group; });
    if (found == groups.end()) found = groups.insert(groups.end(), {group, {}});
    found->second.emplace_back(left_column(*option), right_column(*option));
    width = std::max(width, found->second.back().first.size());
  }
  // Options of the command itself come first, what all commands share last.
  std::stable_partition(groups.begin(), groups.end(), [](const auto& group) {
    return group.first != "Recipe" && group.first != "Options";
  });
  std::string text;
  for (const auto& [group, lines] : groups) text += "\n" + group + ":\n" + columns(lines, width);
  return text;
}

std::string commands_help(const CLI::App& app) {
  Lines lines;
  std::size_t width = 0;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    lines.emplace_back(command->get_name(), command->get_description());
    width = std::max(width, command->get_name().size());
  }
  return lines.empty() ? "" : "\nCommands:\n" + columns(lines, width);
}

std::string usage(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  std::string text =
      "usage: " + (parent == nullptr ? "" : parent->get_name() + " ") + app.get_name();
  if (!app.get_subcommands([](const CLI::App*) { return true; }).empty()) text += " COMMAND";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->nonpositional()) text += " " + left_column(*option);
  }
  return text + " [OPTION...]\n";
}

}  // namespace

std::string Help::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  std::string text = app->get_description() + "\n\n" + usage(*app);
  text += commands_help(*app) + options_help(*app);
  const std::string footer = app->get_footer();
  return footer.empty() ? text : text + "\n" + footer + "\n";
}

}  // namespace vitascope::app
