#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/recipe.h"

/// \file
/// The program as a whole: its commands, and from arguments to an exit status.
namespace vitascope::app {

/// A declared command.
struct DeclaredCommand {
  CLI::App* app = nullptr;
  std::function<int()> body;
  std::unique_ptr<RecipeOptions> recipe;
};

/// The command line with all commands; nothing is parsed yet.
struct Program {
  CLI::App app;
  std::string completion;  ///< --completion SHELL
  std::vector<DeclaredCommand> commands;

  Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
};

/// Parses and runs; returns the exit status of the command.
/// \throws UsageError for a command line that is wrong; whatever the command throws
int run(int argc, const char* const* argv);

}  // namespace vitascope::app
