#include "vit/caption/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "vit/caption/token_scores.h"
#include "vit/error.h"

namespace vitascope::caption {
namespace {

void check(const SamplingOptions& options) {
  if (!std::isfinite(options.temperature) || options.temperature <= 0) {
    throw UsageError(
        fmt::format("a temperature of {} can't be sampled at: expected a positive "
                    "number",
                    options.temperature));
  }
  if (options.top_k < 0) {
    throw UsageError(
        fmt::format("the {} likeliest tokens can't be taken: expected 1 or more, or 0 "
                    "for all",
                    options.top_k));
  }
  if (!(options.top_p > 0 && options.top_p <= 1)) {
    throw UsageError(
        fmt::format("tokens of probability {} can't be taken: expected above 0, up "
                    "to 1",
                    options.top_p));
  }
}

/// One random token of a row. Memory is kept from draw to draw.
class Draw {
 public:
  explicit Draw(const SamplingOptions& options) : options_(options) {}

  /// \return false when no token is possible
  bool operator()(const RowScores& row, const std::vector<std::int64_t>& forbidden,
                  RandomNumbers& random, ScoredToken& drawn) {
    take_possible(row, forbidden);
    if (options_.top_k > 0 || options_.top_p < 1) sort_likeliest();
    if (tokens_.empty()) return false;
    const double total = weigh();
    double left = random.uniform() * total;
    std::size_t i = 0;
    while (i + 1 < tokens_.size() && left >= weights_[i]) left -= weights_[i++];
    while (weights_[i] == 0) --i;  // rounding may lead behind the last one that has a chance
    drawn = tokens_[i];
    return true;
  }

 private:
  void take_possible(const RowScores& row, const std::vector<std::int64_t>& forbidden) {
    tokens_.clear();
    for (std::int64_t j = 0; j < row.count; ++j) {
      const ScoredToken token{row.values[j], row.token(j)};
      if (token.log_prob > -std::numeric_limits<float>::infinity() &&
          std::ranges::find(forbidden, token.token) == forbidden.end()) {
        tokens_.push_back(token);
      }
    }
  }

  void sort_likeliest() {
    const auto count = std::ssize(tokens_);
    const auto most = options_.top_k > 0 ? std::min<std::int64_t>(options_.top_k, count) : count;
    const auto end = tokens_.begin() + most;
    std::partial_sort(tokens_.begin(), end, tokens_.end(), is_likelier);
    tokens_.erase(end, tokens_.end());
  }

  /// Their probabilities up to a factor, and the sum; cut to the nucleus.
  double weigh() {
    weights_.clear();
    weights_.reserve(tokens_.size());
    const float highest = std::ranges::max(tokens_, {}, &ScoredToken::log_prob).log_prob;
    double total = 0;
    for (const ScoredToken& token : tokens_) {
      weights_.push_back(
          std::exp((static_cast<double>(token.log_prob) - highest) / options_.temperature));
      total += weights_.back();
    }
    if (options_.top_p == 1) return total;
    double sum = 0;
    std::size_t kept = 0;
    while (kept < weights_.size() && sum < options_.top_p * total) sum += weights_[kept++];
    tokens_.resize(kept);
    return sum;
  }

  const SamplingOptions& options_;
  std::vector<ScoredToken> tokens_;
  std::vector<double> weights_;
};

/// A sentence that goes on.
struct Unfinished {
  std::size_t sample;
  std::int64_t node;
  std::int64_t token;
  std::int64_t row;  ///< of the call that produced it
};

class Sampler {
 public:
  Sampler(const NextToken& next, std::vector<RandomNumbers>& random, const SamplingOptions& options)
      : next_(next),
        random_(random),
        options_(options),
        rules_(options.rules, options.special),
        draw_(options),
        last_(random.size(), SentenceTree::kRoot) {
    live_.reserve(random.size());
    for (std::size_t i = 0; i < random.size(); ++i) {
      live_.push_back(
          {i, SentenceTree::kRoot, options.special.start, static_cast<std::int64_t>(i)});
    }
  }

  std::vector<Hypothesis> run() {
    for (std::int64_t length = 0; length < options_.rules.longest && !live_.empty(); ++length) {
      step(length);
    }
    std::vector<Hypothesis> sentences;
    sentences.reserve(last_.size());
    for (const std::int64_t node : last_) {
      sentences.push_back(tree_.sentence(node, options_.alpha, options_.special.end));
    }
    return sentences;
  }

 private:
  void step(std::int64_t length) {
    std::vector<std::int64_t> tokens, parents;
    tokens.reserve(live_.size());
    parents.reserve(live_.size());
    for (const Unfinished& sentence : live_) {
      tokens.push_back(sentence.token);
      parents.push_back(sentence.row);
    }
    const std::int64_t most = options_.top_k > 0 ? options_.top_k + rules_.most_forbidden(length)
                                                 : std::numeric_limits<std::int64_t>::max();
    const TokenScores scores = TokenScores::of(next_(tokens, parents), std::ssize(tokens), most);
    std::vector<Unfinished> before;
    before.swap(live_);
    for (std::int64_t row = 0; row < std::ssize(before); ++row) {
      extend(before[static_cast<std::size_t>(row)], scores, row, length);
    }
  }

  void extend(const Unfinished& sentence, const TokenScores& scores, std::int64_t row,
              std::int64_t length) {
    ScoredToken drawn{};
    for (const Strictness strictness : kFromStrict) {
      if (!draw_(scores.row(row), rules_.forbidden(tree_, sentence.node, length, strictness),
                 random_[sentence.sample], drawn)) {
        continue;
      }
      const std::int64_t node = tree_.add({sentence.node, drawn.token, row, drawn.log_prob});
      last_[sentence.sample] = node;
      if (drawn.token != options_.special.end) {
        live_.push_back({sentence.sample, node, drawn.token, row});
      }
      return;
    }
    check_dead_end(scores, length);
  }

  const NextToken& next_;
  std::vector<RandomNumbers>& random_;
  const SamplingOptions& options_;
  TokenRules rules_;
  Draw draw_;
  SentenceTree tree_;
  std::vector<std::int64_t> last_;  ///< node of each sample
  std::vector<Unfinished> live_;
};

}  // namespace

std::vector<Hypothesis> sample(const NextToken& next, std::vector<RandomNumbers>& random,
                               const SamplingOptions& options) {
  check(options);
  return Sampler(next, random, options).run();
}

}  // namespace vitascope::caption
