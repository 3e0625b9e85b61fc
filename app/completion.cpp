#include "app/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

namespace vitascope::app {
namespace {

/// The names of an option with their dashes.
std::vector<std::string> names(const CLI::Option& option) {
  std::vector<std::string> all;
  for (const std::string& name : option.get_lnames()) all.push_back("--" + name);
  for (const std::string& name : option.get_snames()) all.push_back("-" + name);
  return all;
}

/// "auto|cpu|cuda[:N]" -> "auto cpu cuda"; "" for a value that is no choice.
std::string choices(const CLI::Option& option) {
  std::string words = option.get_type_name();
  if (words.find('|') == std::string::npos) return "";
  words = words.substr(0, words.find('['));
  std::replace(words.begin(), words.end(), '|', ' ');
  return words;
}

std::string visible_names(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : names(*option)) words.push_back(name);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

constexpr const char* kScript = R"(_vitascope() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} words=
  COMPREPLY=()
  case "${{COMP_WORDS[1]}} $previous" in
{choices}  esac
  if [[ -z $words ]]; then
    if [[ $COMP_CWORD -eq 1 ]]; then
      words='{commands} {options}'
    elif [[ $word == -* ]]; then
      case ${{COMP_WORDS[1]}} in
{command_options}      esac
    fi
  fi
  [[ -n $words ]] && COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _vitascope vitascope
)";

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> commands;
  std::string choice_cases, option_cases;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(command->get_name());
    option_cases +=
        fmt::format("        {}) words='{}' ;;\n", command->get_name(), visible_names(*command));
    for (const CLI::Option* option : command->get_options()) {
      const std::string words = choices(*option);
      if (words.empty()) continue;
      for (const std::string& name : names(*option)) {
        choice_cases +=
            fmt::format("    '{} {}') words='{}' ;;\n", command->get_name(), name, words);
      }
    }
  }
  return fmt::format(
      kScript, fmt::arg("choices", choice_cases), fmt::arg("commands", fmt::join(commands, " ")),
      fmt::arg("options", visible_names(app)), fmt::arg("command_options", option_cases));
}

}  // namespace vitascope::app
