#include "vit/caption/beam_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>

#include "vit/caption/token_scores.h"
#include "vit/error.h"

namespace vitascope::caption {
namespace {

void check(const BeamOptions& options) {
  if (options.beam < 1) {
    throw UsageError(fmt::format("a beam of {} finds nothing: expected 1 or more", options.beam));
  }
  if (options.results < 1 || options.results > options.beam) {
    throw UsageError(fmt::format("{} sentences can't come out of a beam of {}: expected 1 to {}",
                                 options.results, options.beam, options.beam));
  }
  if (!std::isfinite(options.alpha) || options.alpha < 0) {
    throw UsageError(
        fmt::format("length can't be normalised by the power of {}: expected 0 or a "
                    "positive number",
                    options.alpha));
  }
}

/// A sentence that goes on: row i of the call is the i-th of all photos' beams.
struct Beam {
  std::int64_t node;
  std::int64_t token;
  std::int64_t row;  ///< of the call that produced it
  double log_prob;
};

/// A beam and a token that may follow.
struct Continuation {
  double log_prob;
  float token_log_prob;
  std::int64_t token;
  std::int64_t beam;  ///< of the photo's
};

bool is_better(const Continuation& a, const Continuation& b) {
  return a.log_prob != b.log_prob ? a.log_prob > b.log_prob
                                  : std::tie(a.token, a.beam) < std::tie(b.token, b.beam);
}

struct Photo {
  std::vector<Beam> live;
  std::vector<std::int64_t> finished;  ///< nodes
  bool done = false;
};

class Search {
 public:
  Search(const NextToken& next, std::int64_t photos, const BeamOptions& options)
      : next_(next), options_(options), rules_(options.rules, options.special) {
    photos_.reserve(static_cast<std::size_t>(photos));
    for (std::int64_t i = 0; i < photos; ++i) {
      photos_.push_back(
          {.live = {{SentenceTree::kRoot, options.special.start, i, 0}}, .finished = {}});
    }
  }

  std::vector<std::vector<Hypothesis>> run() {
    for (length_ = 0; length_ < options_.rules.longest && step(); ++length_) {
    }
    std::vector<std::vector<Hypothesis>> results;
    results.reserve(photos_.size());
    for (const Photo& photo : photos_) results.push_back(result(photo));
    return results;
  }

 private:
  /// One token for every beam of every photo; false when all are done.
  bool step() {
    tokens_.clear();
    parents_.clear();
    for (const Photo& photo : photos_) {
      if (photo.done) continue;
      for (const Beam& beam : photo.live) {
        tokens_.push_back(beam.token);
        parents_.push_back(beam.row);
      }
    }
    if (tokens_.empty()) return false;
    const TokenScores scores = TokenScores::of(next_(tokens_, parents_), std::ssize(tokens_),
                                               looked_at() + rules_.most_forbidden(length_));
    if (length_ == 0) check_width(scores.vocabulary());
    std::int64_t row = 0;
    for (Photo& photo : photos_) {
      if (photo.done) continue;
      const std::int64_t rows = std::ssize(photo.live);
      rank(photo, scores, row);
      advance(photo, scores, row);
      row += rows;
    }
    return true;
  }

  /// Of the best how many continuations something depends on.
  std::int64_t looked_at() const {
    const bool first_only = options_.beam == 1 || options_.finish == FinishRule::shrink;
    return first_only ? options_.beam : 2 * options_.beam;
  }

  void check_width(std::int64_t vocabulary) const {
    const SpecialTokens& special = options_.special;
    const std::int64_t words = vocabulary - 1 - (special.pad ? 1 : 0) - (special.unknown ? 1 : 0);
    if (options_.beam <= words) return;
    throw UsageError(
        fmt::format("a beam of {} is wider than the vocabulary, of which {} tokens "
                    "can be produced: expected at most {}",
                    options_.beam, words, words));
  }

  /// The photo's best continuations, into ranked_; none when no token is possible.
  void rank(const Photo& photo, const TokenScores& scores, std::int64_t first_row) {
    ranked_.clear();
    for (const Strictness strictness : kFromStrict) {
      for (std::int64_t i = 0; i < std::ssize(photo.live); ++i) {
        const Beam& beam = photo.live[static_cast<std::size_t>(i)];
        find_best(scores.row(first_row + i),
                  rules_.forbidden(tree_, beam.node, length_, strictness), looked_at(), best_);
        for (const ScoredToken& next : best_) {
          ranked_.push_back({beam.log_prob + next.log_prob, next.log_prob, next.token, i});
        }
      }
      if (!ranked_.empty()) break;
    }
    const auto most = std::min(ranked_.size(), static_cast<std::size_t>(looked_at()));
    std::partial_sort(ranked_.begin(), ranked_.begin() + static_cast<std::ptrdiff_t>(most),
                      ranked_.end(), is_better);
    ranked_.resize(most);
  }

  /// Takes the best continuations as the photo's next beams.
  void advance(Photo& photo, const TokenScores& scores, std::int64_t first_row) {
    if (ranked_.empty()) {
      check_dead_end(scores, length_);
      photo.done = true;
      return;
    }
    before_.swap(photo.live);
    photo.live.clear();
    const bool keeps = options_.finish == FinishRule::keep;
    const auto most =
        keeps ? std::ssize(ranked_)
              : std::min(std::ssize(ranked_), options_.beam - std::ssize(photo.finished));
    for (std::int64_t rank = 0; rank < most; ++rank) {
      const Continuation& next = ranked_[static_cast<std::size_t>(rank)];
      const bool ends = next.token == options_.special.end;
      if ((ends ? rank : std::ssize(photo.live)) >= options_.beam) continue;
      const std::int64_t row = first_row + next.beam;
      const std::int64_t node = tree_.add({before_[static_cast<std::size_t>(next.beam)].node,
                                           next.token, row, next.token_log_prob});
      if (ends) {
        photo.finished.push_back(node);
      } else {
        photo.live.push_back({node, next.token, row, next.log_prob});
      }
    }
    photo.done = photo.live.empty() || std::ssize(photo.finished) >= options_.beam;
  }

  std::vector<Hypothesis> result(const Photo& photo) const {
    std::vector<Hypothesis> sentences;
    const auto add = [&](std::int64_t node) {
      sentences.push_back(tree_.sentence(node, options_.alpha, options_.special.end));
    };
    for (const std::int64_t node : photo.finished) add(node);
    if (sentences.empty()) {
      for (const Beam& beam : photo.live) add(beam.node);
    }
    std::ranges::sort(sentences, [](const Hypothesis& a, const Hypothesis& b) {
      if (a.score != b.score) return a.score > b.score;
      if (a.tokens.size() != b.tokens.size()) return a.tokens.size() < b.tokens.size();
      return a.tokens < b.tokens;
    });
    if (std::ssize(sentences) > options_.results) {
      sentences.resize(static_cast<std::size_t>(options_.results));
    }
    return sentences;
  }

  const NextToken& next_;
  const BeamOptions& options_;
  TokenRules rules_;
  SentenceTree tree_;
  std::vector<Photo> photos_;
  std::int64_t length_ = 0;  ///< tokens of every live sentence
  // Kept from step to step for their memory.
  std::vector<std::int64_t> tokens_, parents_;
  std::vector<ScoredToken> best_;
  std::vector<Continuation> ranked_;
  std::vector<Beam> before_;
};

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(const NextToken& next, std::int64_t photos,
                                                 const BeamOptions& options) {
  check(options);
  return Search(next, photos, options).run();
}

}  // namespace vitascope::caption
