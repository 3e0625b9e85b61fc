#include "app/shard.h"

#include <fmt/format.h>

#include "app/values.h"
#include "vit/error.h"

namespace vitascope::app {

datasets::Shard parse_shard(const std::string& text) {
  constexpr int kMost = 100'000;
  const std::size_t slash = text.find('/');
  const auto index = parse_whole<int>(std::string_view(text).substr(0, slash));
  const auto count = slash == std::string::npos
                         ? std::nullopt
                         : parse_whole<int>(std::string_view(text).substr(slash + 1));
  if (!index || !count || *count < 1 || *count > kMost || *index < 1 || *index > *count) {
    throw UsageError(in_quotes(text) +
                     " is not I/N, the I-th of N shards with I from 1 to N, as in 2/4");
  }
  return {static_cast<std::size_t>(*index - 1), static_cast<std::size_t>(*count)};
}

void add_shard_option(CLI::App& command, std::string& shard) {
  command
      .add_option(
          "--shard", shard,
          "only the I-th of N shares of the photos, from 1/N to N/N [default: what torchrun, "
          "srun or mpirun say, else all photos]")
      ->type_name("I/N")
      ->check(accepted_by(parse_shard))
      ->group("Results");
}

std::optional<ShardPlace> shard_place(const std::string& flag, const std::string& output,
                                      const Environment& environment, RunOptions& run) {
  const std::optional<ProcessPlace> place = launched_place(environment);
  if (!flag.empty() && place) {
    throw UsageError(
        fmt::format("--shard {} is given, but a launcher started this as process {} of {}, which "
                    "says the share already: leave one of them out",
                    flag, place->seat.rank + 1, place->seat.processes));
  }
  if (flag.empty() && !place) return std::nullopt;
  if (output.empty()) {
    throw UsageError(
        fmt::format("{} shares the photos, and no --output is given, beside which each process "
                    "writes its part",
                    place ? "a launcher that starts several processes" : "--shard"));
  }
  if (!place) return ShardPlace{parse_shard(flag), false};
  run = run_options_at(run, *place);
  return ShardPlace{
      {static_cast<std::size_t>(place->seat.rank), static_cast<std::size_t>(place->seat.processes)},
      true};
}

}  // namespace vitascope::app
