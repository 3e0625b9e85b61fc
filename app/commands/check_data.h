#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// \file
/// `vitascope check-data`: what a data set holds, and what is wrong with its pictures.
namespace vitascope::app {

/// See app/command.h.
std::function<int()> declare_check_data(CLI::App& command);

}  // namespace vitascope::app
