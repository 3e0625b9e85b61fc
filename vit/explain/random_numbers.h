#pragma once

#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

/// \file
/// Seeded random numbers that are the same on every machine.
namespace vitascope::explain {

/// The engine's sequence is fixed by the C++ standard; the distributions of <random> are not, so
/// they are not used.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : engine_(seed) {}

  /// In [0, 1), in steps of 2^-53.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  /// One of 0 .. count - 1.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(uniform() * static_cast<double>(count));
  }

  /// 0 .. count - 1 in random order (Fisher-Yates).
  std::vector<std::int64_t> permutation(std::int64_t count) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    for (std::int64_t last = count - 1; last > 0; --last) {
      std::swap(order[static_cast<std::size_t>(last)],
                order[static_cast<std::size_t>(below(last + 1))]);
    }
    return order;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace vitascope::explain
