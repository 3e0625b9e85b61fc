#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// \file
/// `vitascope score-captions`: how good captions are that some program wrote.
namespace vitascope::app {

/// See app/command.h.
std::function<int()> declare_score_captions(CLI::App& command);

}  // namespace vitascope::app
