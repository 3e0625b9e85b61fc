#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// \file
/// `vitascope attend`: where the model looked, over the photo.
namespace vitascope::app {

/// See app/command.h.
std::function<int()> declare_attend(CLI::App& command);

}  // namespace vitascope::app
