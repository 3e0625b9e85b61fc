#pragma once

#include <csignal>
#include <utility>
#include <vector>

/// \file
/// Signals that ask a run to stop or to save at a good moment.
namespace vitascope::app {

/// While it lives, the first of these signals is only noted; the second ends the program at once.
/// One at a time.
class Interrupt {
 public:
  explicit Interrupt(const std::vector<int>& signals = {SIGINT});
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool requested() const;

 private:
  std::vector<std::pair<int, struct sigaction>> previous_;
};

/// While it lives, SIGUSR1 is noted, by which Slurm tells that the time is nearly up. One at a
/// time.
class SaveSignal {
 public:
  SaveSignal();
  ~SaveSignal();
  SaveSignal(const SaveSignal&) = delete;
  SaveSignal& operator=(const SaveSignal&) = delete;

  /// Whether it came since the last question.
  bool take();

 private:
  struct sigaction previous_ {};
};

}  // namespace vitascope::app
