#pragma once

#include <span>
#include <vector>

#include "vit/metrics/scores.h"

/// \file
/// Whether a probability means what it says (Guo et al. 2017, arXiv:1706.04599).
namespace vitascope::metrics {

/// The samples whose top probability lies in one stretch of 0 .. 1.
struct ReliabilityBin {
  std::int64_t count = 0;
  double accuracy = 0;    ///< share of them that is right; 0 when there are none
  double confidence = 0;  ///< mean of their top probability; 0 when there are none
};

/// Bin m of M, from 1, holds top probabilities in ((m - 1) / M, m / M].
/// \throws std::invalid_argument when there are no bins, or a top probability is not in 0 .. 1
std::vector<ReliabilityBin> reliability_bins(const Scores& probabilities, Labels labels,
                                             int bins = 15);

/// ECE: the mean of |accuracy - confidence|, bins weighted by their count.
double expected_calibration_error(std::span<const ReliabilityBin> bins);

/// MCE: the largest |accuracy - confidence|.
double maximum_calibration_error(std::span<const ReliabilityBin> bins);

/// NLL: the mean of -ln p of the true class, in nats; infinite when one has probability 0.
double negative_log_likelihood(const Scores& probabilities, Labels labels);

/// The mean of sum_c (p_c - y_c)^2, 0 .. 2 (Brier 1950).
double brier_score(const Scores& probabilities, Labels labels);

/// The temperature that logits are divided by to make their NLL on these samples lowest. It lies
/// between 0.01, which is returned when every sample is right, and 100.
double fit_temperature(const Scores& logits, Labels labels);

}  // namespace vitascope::metrics
