#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// \file
/// `vitascope embed`: photos as vectors, in a file.
namespace vitascope::app {

/// See app/command.h.
std::function<int()> declare_embed(CLI::App& command);

}  // namespace vitascope::app
