#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "vit/train/process_group.h"

/// \file
/// Several members of a group in one process: threads that know of each other by sockets alone.
namespace vitascope::train::tests {

/// Runs `body` once for each rank, all at the same time.
/// \param on_lost what each is told when another one is gone
inline void together(
    int processes, const std::function<void(ProcessGroup&)>& body,
    const std::function<void(const std::string&)>& on_lost = [](const std::string&) {}) {
  StorePlace place{.serve = true};
  ProcessStore store(place);
  place = {.port = store.port(), .run = "test", .keeper = "the test"};
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(processes));
  for (int rank = 0; rank < processes; ++rank) {
    threads.emplace_back([&, rank] {
      ProcessGroup group(place, {rank, processes}, on_lost);
      body(group);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace vitascope::train::tests
