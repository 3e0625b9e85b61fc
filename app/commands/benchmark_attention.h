#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// \file
/// `vitascope benchmark-attention`: the attention kernels beside LibTorch's, by length and
/// precision.
namespace vitascope::app {

/// See app/command.h.
std::function<int()> declare_benchmark_attention(CLI::App& command);

}  // namespace vitascope::app
