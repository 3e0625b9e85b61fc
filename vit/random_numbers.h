#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

/// \file
/// Seeded random numbers that are the same on every machine.
namespace vitascope {

/// One seed of several numbers, e.g. of the run's seed, the epoch and the sample's index: what is
/// drawn from it depends on these alone. Neighbouring numbers give unrelated seeds.
std::uint64_t combined_seed(std::initializer_list<std::uint64_t> numbers);

/// A value: a copy goes on as the original would. The engine's sequence is fixed by the C++
/// standard; the distributions of <random> are not, so they are not used.
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
  std::vector<std::int64_t> permutation(std::int64_t count);

  /// Of the normal distribution with mean 0 and variance 1 (Box and Muller 1958).
  double normal();

  /// Of the beta distribution, `alpha` and `beta` positive, as the share that one of two gamma
  /// variates has in their sum (Marsaglia and Tsang 2000).
  double beta(double alpha, double beta);

  /// All that the numbers to come depend on, as text for a checkpoint.
  std::string state() const;

  /// Goes on where `state` was taken.
  /// \throws std::invalid_argument when it is no state
  void restore(const std::string& state);

  bool operator==(const RandomNumbers&) const = default;

 private:
  double log_gamma_variate(double shape);

  std::mt19937_64 engine_;
};

}  // namespace vitascope
