#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// \file
/// `vitascope info`: what a model is, or what this program and this machine can do.
namespace vitascope::app {

/// See app/command.h.
std::function<int()> declare_info(CLI::App& command);

}  // namespace vitascope::app
