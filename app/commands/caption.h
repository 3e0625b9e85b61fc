#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// \file
/// `vitascope caption`: says in words what photos show.
namespace vitascope::app {

/// Declares `vitascope caption`: says in words what photos show, and where each word looked.
std::function<int()> declare_caption(CLI::App& command);

}  // namespace vitascope::app
