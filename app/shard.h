#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "app/process_place.h"
#include "datasets/sampling_order.h"

/// \file
/// Which share of a long list this process takes: what --shard or the launcher says.
namespace vitascope::app {

/// The share, and whether torchrun, srun or mpirun gave it.
struct ShardPlace {
  datasets::Shard shard;
  bool launched = false;
};

/// Declares --shard.
void add_shard_option(CLI::App& command, std::string& shard);

/// "2/4": the second of four.
/// \throws UsageError saying what was got and what was expected
datasets::Shard parse_shard(const std::string& text);

/// Nothing where this process takes the whole list.
/// \param flag   the value of --shard, or empty
/// \param output where results go; a shard must have one
/// \param run    shares the machine's cores where a launcher started several processes
/// \throws UsageError when both the flag and a launcher say something, or `output` is empty
std::optional<ShardPlace> shard_place(const std::string& flag, const std::string& output,
                                      const Environment& environment, RunOptions& run);

}  // namespace vitascope::app
