#pragma once

#include <optional>
#include <span>
#include <vector>

/// \file
/// The numbers that an audit compares maps and answers by, in double. Nothing stands where a number
/// is undefined. Sides of different length, or empty ones, throw std::invalid_argument.
namespace vitascope::explain {

/// Numbers of one side: a distribution, a map row by row, one figure a photo.
using Values = std::span<const double>;

/// Jensen-Shannon divergence, (KL(p || m) + KL(q || m)) / 2 with m = (p + q) / 2, in nats: 0 .. ln
/// 2 (Lin 1991). The sides are not renormalised; 0 ln 0 = 0.
double jensen_shannon_divergence(Values p, Values q);

/// Total variation distance, sum |p - q| / 2.
double total_variation_distance(Values p, Values q);

/// Kendall's tau-b, ties accounted for (Kendall 1945); nothing when one side is constant.
std::optional<double> kendall_tau(Values a, Values b);

/// Pearson's correlation; nothing when one side is constant.
std::optional<double> pearson_correlation(Values a, Values b);

/// Spearman's rank correlation, ties with their mean rank; nothing when one side is constant.
std::optional<double> spearman_correlation(Values a, Values b);

/// Gini index of non-negative values, sum_i (2i - n - 1) x_(i) / (n sum x): 0 for equal ones, up to
/// (n - 1) / n (Hurley & Rickard 2009). Nothing when they sum to 0.
std::optional<double> gini(Values x);

/// Entropy of x / sum x in nats, x non-negative; nothing when they sum to 0.
std::optional<double> entropy(Values x);

/// entropy(x) / ln n: 0 .. 1; 0 for a single value.
std::optional<double> normalised_entropy(Values x);

/// (x - min) / (max - min); a constant x gives zeros.
std::vector<double> min_max(Values x);

/// The middle value; of an even number, the mean of the two in the middle.
double median(Values x);

/// Mean of x.
double mean(Values x);

}  // namespace vitascope::explain
