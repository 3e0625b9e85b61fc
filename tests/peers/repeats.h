#pragma once

#include <chrono>
#include <iostream>

/// \file
/// Our side of a comparison that is timed within one process.
namespace vitascope {

/// Prints the milliseconds of each repetition, a line each, after one that warms up.
template <typename Work>
void print_milliseconds(int repeats, const Work& work) {
  for (int i = -1; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    if (i >= 0) std::cout << taken.count() << '\n';
  }
}

}  // namespace vitascope
