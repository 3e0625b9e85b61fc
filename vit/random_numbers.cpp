#include "vit/random_numbers.h"

#include <cmath>
#include <locale>
#include <numbers>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace vitascope {
namespace {

/// The finaliser of SplitMix64 (Steele et al. 2014): each bit of x changes half of the result's.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t combined_seed(std::initializer_list<std::uint64_t> numbers) {
  std::uint64_t seed = 0;
  for (const std::uint64_t number : numbers)
    seed = mixed(seed + 0x9E3779B97F4A7C15u + mixed(number));
  return seed;
}

std::vector<std::int64_t> RandomNumbers::permutation(std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t last = count - 1; last > 0; --last) {
    std::swap(order[static_cast<std::size_t>(last)],
              order[static_cast<std::size_t>(below(last + 1))]);
  }
  return order;
}

double RandomNumbers::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

double RandomNumbers::log_gamma_variate(double shape) {
  if (shape < 1) {
    // gamma(a) is gamma(a + 1) U^(1/a), which for a small a is below what a double holds.
    const double log_power = std::log(1 - uniform()) / shape;
    return log_gamma_variate(shape + 1) + log_power;
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double log_v = 3 * std::log(root);
    const double u = 1 - uniform();
    if (std::log(u) < x * x / 2 + d - d * std::exp(log_v) + d * log_v) return std::log(d) + log_v;
  }
}

double RandomNumbers::beta(double alpha, double beta) {
  const double first = log_gamma_variate(alpha);
  const double second = log_gamma_variate(beta);
  return 1 / (1 + std::exp(second - first));
}

std::string RandomNumbers::state() const {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << engine_;
  return text.str();
}

void RandomNumbers::restore(const std::string& state) {
  std::istringstream text(state);
  text.imbue(std::locale::classic());
  std::mt19937_64 engine;
  const bool read = text >> engine && (text >> std::ws).eof();
  // The last number is a place in the engine's words, which the library takes unchecked.
  if (!read || std::stoull(state.substr(state.find_last_of(' ') + 1)) > engine.state_size) {
    throw std::invalid_argument("not the state of random numbers");
  }
  engine_ = engine;
}

}  // namespace vitascope
