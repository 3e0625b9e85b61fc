#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

/// \file
/// Seeded random numbers that are the same on every machine and cost nothing to begin: a stream of
/// its own for every photo.
namespace vitascope::image {

/// SplitMix64 (Steele, Lea, Flood 2014): eight bytes of state, which may be saved and restored.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t state) : state_(state) {}

  /// The stream of one sample in one epoch; nothing else enters, so that neither threads nor a
  /// resumed run change what it gives.
  static RandomStream of(std::uint64_t seed, std::uint64_t epoch, std::uint64_t sample) {
    RandomStream stream(seed);
    for (const std::uint64_t part : {epoch, sample}) stream.state_ = stream.bits() ^ part;
    return RandomStream(stream.bits());
  }

  std::uint64_t state() const { return state_; }

  std::uint64_t bits() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  /// In [0, 1), in steps of 2^-53.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  /// In [least, most).
  double uniform(double least, double most) { return least + (most - least) * uniform(); }

  /// One of 0 .. count - 1.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(uniform() * static_cast<double>(count));
  }

  bool happens(double probability) { return uniform() < probability; }

  /// Mean 0, standard deviation 1 (Box and Muller 1958).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  /// Brings the elements into random order (Fisher-Yates).
  template <typename Container>
  void shuffle(Container& elements) {
    for (std::size_t count = elements.size(); count > 1; --count)
      std::swap(elements[count - 1],
                elements[static_cast<std::size_t>(below(static_cast<std::int64_t>(count)))]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace vitascope::image
