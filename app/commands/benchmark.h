#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// \file
/// `vitascope benchmark`: how quick a model is here, by batch size, precision and part.
namespace vitascope::app {

/// See app/command.h.
std::function<int()> declare_benchmark(CLI::App& command);

}  // namespace vitascope::app
