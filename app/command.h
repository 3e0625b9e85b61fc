#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// \file
/// What main knows of a command.
namespace vitascope::app {

/// Declares a command's options on `command` and returns its body, which runs after parsing and
/// gives the exit status (0 done, 1 some inputs failed). Errors leave it as exceptions.
using Declare = std::function<int()> (*)(CLI::App& command);

/// A command as `vitascope --help` lists it.
struct Command {
  const char* name;
  const char* summary;  ///< one line for `vitascope --help`
  Declare declare;
};

}  // namespace vitascope::app
