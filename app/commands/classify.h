#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// \file
/// `vitascope classify`: what photos show, as text, JSON or CSV.
namespace vitascope::app {

/// See app/command.h.
std::function<int()> declare_classify(CLI::App& command);

}  // namespace vitascope::app
