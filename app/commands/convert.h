#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// \file
/// `vitascope convert`: opens any model and writes it as a transformers or timm directory.
namespace vitascope::app {

/// See app/command.h.
std::function<int()> declare_convert(CLI::App& command);

}  // namespace vitascope::app
