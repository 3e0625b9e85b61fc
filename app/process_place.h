#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "app/options.h"
#include "vit/train/process_group.h"

/// \file
/// Which of several processes this one is: what torchrun, srun or mpirun say in the environment, or
/// the supervisor of --processes.
namespace vitascope::app {

/// The value of an environment variable; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(const std::string&)>;

/// That of this process.
std::optional<std::string> environment(const std::string& name);

/// A process among those that were started together.
struct ProcessPlace {
  train::Seat seat;
  train::Seat here;  ///< among those on this machine
  train::StorePlace store{};
  bool supervised = false;     ///< started by --processes
  bool bound = false;          ///< srun and mpirun may have given each process cores of its own
  std::optional<int> cores{};  ///< that each process was promised
};

/// Nothing where this process is alone.
/// \throws UsageError when the environment contradicts itself or lacks the place to meet
std::optional<ProcessPlace> process_place(const Environment& environment);

/// The same without a place to meet, for processes that have nothing to say to each other.
std::optional<ProcessPlace> launched_place(const Environment& environment);

/// Shares the cores of this machine between its processes and gives each a GPU of its own; all but
/// the first one are quiet.
RunOptions run_options_at(RunOptions run, const ProcessPlace& place);

/// Meets the other processes and runs `body` among them; tells them when it throws. Whoever loses
/// another one says so on stderr and ends with exit status 3.
int run_together(const ProcessPlace& place, const std::function<int(train::ProcessGroup&)>& body);

}  // namespace vitascope::app
