#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// \file
/// `vitascope finetune`: a pretrained model becomes a classifier of a person's own photos.
namespace vitascope::app {

/// See app/command.h.
std::function<int()> declare_finetune(CLI::App& command);

}  // namespace vitascope::app
