#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// \file
/// `vitascope evaluate`: how good a model is on labelled photos.
namespace vitascope::app {

/// See app/command.h.
std::function<int()> declare_evaluate(CLI::App& command);

}  // namespace vitascope::app
