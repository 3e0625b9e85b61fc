#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// \file
/// Weights that keep rare classes from being forgotten. A class without samples gets 0.
namespace vitascope::train {

/// n / (K n_c), n samples in all, of the K classes that have any: scikit-learn's 'balanced'. Over
/// the samples the weights have the mean 1.
/// \param counts samples of each class
/// \throws std::invalid_argument when there are none
std::vector<double> inverse_class_weights(std::span<const std::int64_t> counts);

/// (1 - beta) / (1 - beta^n_c), scaled to sum to K as above (Cui 2019, arXiv:1901.05555).
/// \param beta 0 .. 1, 1 excluded: 0 weighs all classes alike
std::vector<double> effective_number_weights(std::span<const std::int64_t> counts,
                                             double beta = 0.999);

}  // namespace vitascope::train
