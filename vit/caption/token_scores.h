#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

/// \file
/// A decoder's log-probabilities on the CPU, no more of them than are needed.
namespace vitascope::caption {

/// Scores of one row. `tokens` is null where column j is token j.
struct RowScores {
  const float* values = nullptr;
  const std::int64_t* tokens = nullptr;
  std::int64_t count = 0;

  std::int64_t token(std::int64_t j) const { return tokens == nullptr ? j : tokens[j]; }
};

/// Log-probabilities of all tokens or of the likeliest ones.
class TokenScores {
 public:
  /// Takes what the decoder gave, [rows, V]: as it is on the CPU; from another device the `most`
  /// likeliest of each row are fetched.
  /// \throws std::invalid_argument when the shape is another
  static TokenScores of(const at::Tensor& log_probs, std::int64_t rows, std::int64_t most);

  /// The `most` likeliest of each row, where the device finds them. When the last of them has as
  /// much as others that are left out, which of them are the lower tokens is for the caller to see:
  /// all are taken then.
  static TokenScores likeliest(const at::Tensor& log_probs, std::int64_t most);

  /// All of them.
  static TokenScores all(const at::Tensor& log_probs);

  RowScores row(std::int64_t row) const;
  std::int64_t vocabulary() const { return vocabulary_; }
  /// Whether a value is NaN.
  bool has_nan() const;

 private:
  TokenScores(at::Tensor values, at::Tensor tokens, std::int64_t vocabulary);

  at::Tensor values_;  ///< float [rows, n], contiguous, on the CPU
  at::Tensor tokens_;  ///< int64 [rows, n], or undefined
  std::int64_t vocabulary_;
};

/// A sentence of `length` tokens, of which `scores` let none follow, has come to its end.
/// \throws FailureError when that is the decoder's fault: values are NaN, or it is empty
void check_dead_end(const TokenScores& scores, std::int64_t length);

/// A token and its log-probability.
struct ScoredToken {
  float log_prob;
  std::int64_t token;
};

/// The order of the search: by log-probability, of equally likely ones the lower token.
bool is_likelier(const ScoredToken& a, const ScoredToken& b);

/// The `most` likeliest tokens of a row that are not forbidden and not impossible, into `best`, in
/// that order.
void find_best(const RowScores& row, const std::vector<std::int64_t>& forbidden, std::int64_t most,
               std::vector<ScoredToken>& best);

}  // namespace vitascope::caption
