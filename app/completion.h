#pragma once

#include <CLI/CLI.hpp>
#include <string>

/// \file
/// Completion for bash, made from the commands and options themselves, so that it can't fall
/// behind.
namespace vitascope::app {

/// The script that `eval "$(vitascope --completion bash)"` runs: commands, options, and the values
/// of options that have a fixed set; everything else completes as a file name.
std::string bash_completion(const CLI::App& app);

}  // namespace vitascope::app
