#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// \file
/// `vitascope verify`: compares with what Python gave, layer by layer, and names the likely cause.
namespace vitascope::app {

/// See app/command.h.
std::function<int()> declare_verify(CLI::App& command);

}  // namespace vitascope::app
