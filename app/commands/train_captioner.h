#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// \file
/// `vitascope train-captioner`: teaches a decoder to caption photos.
namespace vitascope::app {

/// Declares `vitascope train-captioner`: teaches a decoder to caption photos.
std::function<int()> declare_train_captioner(CLI::App& command);

}  // namespace vitascope::app
