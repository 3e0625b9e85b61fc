#include "vit/caption/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "vit/error.h"

namespace vitascope::caption {

std::int64_t SentenceTree::add(const Node& node) {
  nodes_.push_back(node);
  return static_cast<std::int64_t>(nodes_.size()) - 1;
}

Hypothesis SentenceTree::sentence(std::int64_t node, double alpha, std::int64_t end) const {
  Hypothesis result;
  for (; node != kRoot; node = (*this)[node].before) {
    const Node& last = (*this)[node];
    result.tokens.push_back(last.token);
    result.rows.push_back(last.row);
    result.log_probs.push_back(last.log_prob);
  }
  std::ranges::reverse(result.tokens);
  std::ranges::reverse(result.rows);
  std::ranges::reverse(result.log_probs);
  for (const double log_prob : result.log_probs) result.log_prob += log_prob;
  result.score = result.log_prob / std::pow(static_cast<double>(result.tokens.size()), alpha);
  result.finished = !result.tokens.empty() && result.tokens.back() == end;
  return result;
}

TokenRules::TokenRules(const SentenceRules& rules, const SpecialTokens& special)
    : rules_(rules), special_(special) {
  if (rules.longest < 1) {
    throw UsageError(fmt::format("sentences of at most {} tokens can't be made: expected 1 or more",
                                 rules.longest));
  }
  if (rules.shortest < 0 || rules.shortest >= rules.longest) {
    throw UsageError(fmt::format(
        "sentences of at least {} words can't be made: expected 0 to {}, since the longest has {} "
        "tokens with its <end>",
        rules.shortest, rules.longest - 1, rules.longest));
  }
  if (rules.no_repeat < 0) {
    throw UsageError(fmt::format(
        "a repetition of {} words can't be forbidden: expected 1 or more, or 0 for none",
        rules.no_repeat));
  }
}

const std::vector<std::int64_t>& TokenRules::forbidden(const SentenceTree& tree, std::int64_t node,
                                                       std::int64_t length, Strictness strictness) {
  forbidden_.assign({special_.start});
  if (special_.pad) forbidden_.push_back(*special_.pad);
  if (strictness == Strictness::anything) return forbidden_;
  if (special_.unknown) forbidden_.push_back(*special_.unknown);
  if (rules_.no_repeat > 0) forbid_repeats(tree, node);
  if (strictness == Strictness::all && length < rules_.shortest) {
    forbidden_.push_back(special_.end);
  }
  return forbidden_;
}

std::int64_t TokenRules::most_forbidden(std::int64_t length) const {
  constexpr std::int64_t kSpecial = 4;
  return kSpecial + (rules_.no_repeat > 0 ? length : 0);
}

/// What followed each earlier place where the last no_repeat - 1 tokens stood.
void TokenRules::forbid_repeats(const SentenceTree& tree, std::int64_t node) {
  history_.clear();  // the last token first
  for (; node != SentenceTree::kRoot; node = tree[node].before) {
    history_.push_back(tree[node].token);
  }
  const std::int64_t last = rules_.no_repeat - 1;
  const auto begin = history_.begin();
  for (std::int64_t i = 1; i + last <= std::ssize(history_); ++i) {
    if (std::equal(begin, begin + last, begin + i)) forbidden_.push_back(begin[i - 1]);
  }
}

}  // namespace vitascope::caption
