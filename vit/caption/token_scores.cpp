#include "vit/caption/token_scores.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::caption {
namespace {

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

}  // namespace

TokenScores::TokenScores(at::Tensor values, at::Tensor tokens, std::int64_t vocabulary)
    : values_(std::move(values)), tokens_(std::move(tokens)), vocabulary_(vocabulary) {}

TokenScores TokenScores::of(const at::Tensor& log_probs, std::int64_t rows, std::int64_t most) {
  if (log_probs.dim() != 2 || log_probs.size(0) != rows) {
    throw std::invalid_argument(fmt::format("scores of shape {}: expected [{}, V]",
                                            shape_text(log_probs.sizes().vec()), rows));
  }
  return log_probs.is_cpu() ? all(log_probs) : likeliest(log_probs, most);
}

TokenScores TokenScores::likeliest(const at::Tensor& log_probs, std::int64_t most) {
  const std::int64_t vocabulary = log_probs.size(1);
  if (most >= vocabulary) return all(log_probs);
  // One more than is needed shows whether the last one was chosen among equals.
  const auto [values, tokens] = log_probs.topk(most + 1, 1);
  const at::Tensor last = values.narrow(1, most - 1, 2);
  const at::Tensor chosen_among_equals =
      last.select(1, 0).eq(last.select(1, 1)).logical_and_(last.select(1, 0).gt(kImpossible));
  if (chosen_among_equals.any().item<bool>()) return all(log_probs);
  return {values.to(at::kCPU, at::kFloat).contiguous(), tokens.cpu().contiguous(), vocabulary};
}

TokenScores TokenScores::all(const at::Tensor& log_probs) {
  return {log_probs.to(at::kCPU, at::kFloat).contiguous(), {}, log_probs.size(1)};
}

RowScores TokenScores::row(std::int64_t row) const {
  const std::int64_t count = values_.size(1);
  return {values_.const_data_ptr<float>() + row * count,
          tokens_.defined() ? tokens_.const_data_ptr<std::int64_t>() + row * count : nullptr,
          count};
}

void check_dead_end(const TokenScores& scores, std::int64_t length) {
  if (scores.has_nan()) throw FailureError("the decoder's log-probabilities are no numbers");
  if (length == 0) throw FailureError("the decoder gives no word a chance: all are -infinity");
}

bool TokenScores::has_nan() const { return values_.isnan().any().item<bool>(); }

bool is_likelier(const ScoredToken& a, const ScoredToken& b) {
  return a.log_prob != b.log_prob ? a.log_prob > b.log_prob : a.token < b.token;
}

void find_best(const RowScores& row, const std::vector<std::int64_t>& forbidden, std::int64_t most,
               std::vector<ScoredToken>& best) {
  best.clear();
  float least = std::numeric_limits<float>::lowest();  // -infinity stays outside, NaN too
  const auto consider = [&](const ScoredToken& found) {
    if (!(found.log_prob >= least)) return;
    const bool full = std::ssize(best) == most;
    if (full && !is_likelier(found, best.back())) return;
    if (std::ranges::find(forbidden, found.token) != forbidden.end()) return;
    if (full) best.pop_back();
    best.insert(std::ranges::upper_bound(best, found, is_likelier), found);
    if (std::ssize(best) == most) least = best.back().log_prob;
  };
  constexpr std::int64_t kBlock = 256;
  for (std::int64_t begin = 0; begin < row.count; begin += kBlock) {
    const std::int64_t end = std::min(begin + kBlock, row.count);
    // Most blocks hold nothing that is good enough, which vector instructions see at once.
    int good = 0;
    for (std::int64_t j = begin; j < end; ++j) good |= static_cast<int>(row.values[j] >= least);
    if (good == 0) continue;
    for (std::int64_t j = begin; j < end; ++j) consider({row.values[j], row.token(j)});
  }
}

}  // namespace vitascope::caption
