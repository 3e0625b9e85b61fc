#pragma once

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

#include "app/command.h"

/// \file
/// Runs a command's declaration and body in the test's own process.
namespace vitascope::tests {

struct CommandResult {
  int status = 0;
  std::string out;
};

/// \throws what the command throws
inline CommandResult run_command(app::Declare declare, const std::vector<std::string>& arguments) {
  CLI::App command;
  const std::function<int()> body = declare(command);
  std::vector<const char*> argv{"command"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  command.parse(int(argv.size()), argv.data());
  testing::internal::CaptureStdout();
  CommandResult result;
  try {
    result.status = body();
  } catch (...) {
    testing::internal::GetCapturedStdout();
    throw;
  }
  result.out = testing::internal::GetCapturedStdout();
  return result;
}

}  // namespace vitascope::tests
