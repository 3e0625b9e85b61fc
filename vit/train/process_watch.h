#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "vit/train/process_store.h"

/// \file
/// Whether the other processes of a run are still there.
namespace vitascope::train {

/// One of the processes of a run.
struct Seat {
  int rank = 0;
  int processes = 1;

  bool first() const { return rank == 0; }
};

/// Each process leaves a sign of life in the store every second and looks for those of the others,
/// in threads of its own: the main one may be waiting for somebody who will never answer.
class ProcessWatch {
 public:
  /// Waits until all processes are there.
  /// \param place   of the store, which is served already
  /// \param on_lost called once, from another thread, with a sentence that names who is gone. It
  ///        should end the process
  ProcessWatch(const StorePlace& place, Seat seat, std::function<void(const std::string&)> on_lost);
  /// Takes leave; from then on nobody expects signs of life.
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  /// Tells the others that this process can't go on, and why.
  void fail(const std::string& reason);

  /// A connection broke: whoever is silent now is soon called lost. \return after some 20 s, when
  /// nobody was
  void await_loss();

 private:
  using Clock = std::chrono::steady_clock;
  /// The last sign that was seen of a process.
  struct Sign {
    std::string text;
    Clock::time_point changed;
  };

  void run();
  void guard();
  void look(bool woken);
  void leave() noexcept;
  void lost(const std::string& message);
  std::string name_of(std::size_t rank) const;
  /// \return whether the watch ends
  bool pause(std::chrono::milliseconds duration);

  Seat seat_;
  std::function<void(const std::string&)> on_lost_;
  StorePlace place_;
  ProcessStore store_;
  std::vector<std::string> keys_;    ///< of the signs
  std::vector<std::string> places_;  ///< machine and process number
  std::vector<Sign> signs_;
  std::atomic<bool> suspicion_ = false;
  std::atomic<Clock::time_point> seen_ = Clock::now();  ///< when the store answered
  std::atomic<bool> told_ = false;
  std::mutex mutex_;  ///< of what follows
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_, guard_;
};

}  // namespace vitascope::train
