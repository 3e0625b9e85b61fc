#pragma once

/// \file
/// `--processes N`: this program once more, N times on this machine.
namespace vitascope::app {

/// Starts the command of this process N times as torchrun would, the others when the first has
/// found nothing to complain of, and waits for all. Signals are passed on. When one fails the
/// others are ended; all end with this process.
/// \return exit status of the one that failed first, else that of the first process
/// \throws FailureError when no process can be started
int supervise(int processes);

}  // namespace vitascope::app
