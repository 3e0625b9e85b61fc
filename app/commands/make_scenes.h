#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// \file
/// `vitascope make-scenes`: drawn pictures with captions and the masks of what they name.
namespace vitascope::app {

/// See app/command.h.
std::function<int()> declare_make_scenes(CLI::App& command);

}  // namespace vitascope::app
