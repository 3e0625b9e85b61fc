#pragma once

#include <csignal>

/// \file
/// Ctrl-C: the first one asks a run to stop at a good moment, the second ends the program at once.
namespace vitascope::app {

/// While it lives, the first SIGINT is only noted. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool requested() const;

 private:
  struct sigaction previous_ {};
};

}  // namespace vitascope::app
