#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// \file
/// `vitascope merge-results`: the parts that shards wrote as one result.
namespace vitascope::app {

/// See app/command.h.
std::function<int()> declare_merge_results(CLI::App& command);

}  // namespace vitascope::app
