#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "vit/caption/vocabulary.h"

/// \file
/// Sentences as a decoder makes them, one token after the other.
namespace vitascope::caption {

/// What a decoder says about the next token: log-probabilities, float [rows, V], on any device. A
/// row is a sentence that is being made; `tokens` are the last token of each, and `parents` the row
/// of the previous call that it continues. In the first call the tokens are all <start> and row i
/// is photo i of the batch.
using NextToken = std::function<at::Tensor(at::IntArrayRef tokens, at::IntArrayRef parents)>;

/// Tokens with a meaning to the search. <start> and <pad> are never produced.
struct SpecialTokens {
  std::int64_t start = kStart;
  std::int64_t end = kEnd;
  std::optional<std::int64_t> pad = kPad;
  std::optional<std::int64_t> unknown = kUnknown;  ///< produced only when nothing else is left
};

/// What a sentence must be like.
struct SentenceRules {
  std::int64_t longest = 20;   ///< tokens, <end> counts
  std::int64_t shortest = 1;   ///< tokens before <end>
  std::int64_t no_repeat = 0;  ///< no run of that many tokens occurs twice; 0: anything may
};

/// A sentence with what the decoder thinks of it.
struct Hypothesis {
  std::vector<std::int64_t> tokens;  ///< with <end> when it is finished, without <start>
  std::vector<std::int64_t> rows;    ///< of each token: the row of its call that produced it
  std::vector<double> log_probs;     ///< of each token
  double log_prob = 0;               ///< their sum
  double score = 0;                  ///< log_prob / tokens^alpha
  bool finished = false;             ///< it has an <end>; else it was cut off
};

/// Sentences that grow; those with the same beginning share it.
class SentenceTree {
 public:
  static constexpr std::int64_t kRoot = -1;  ///< the empty sentence

  struct Node {
    std::int64_t before;  ///< the node of the sentence without this token
    std::int64_t token;
    std::int64_t row;
    double log_prob;
  };

  std::int64_t add(const Node& node);
  const Node& operator[](std::int64_t node) const { return nodes_[static_cast<std::size_t>(node)]; }

  /// The sentence that ends with `node`, scored with `alpha` as its length's exponent.
  Hypothesis sentence(std::int64_t node, double alpha, std::int64_t end) const;

 private:
  std::vector<Node> nodes_;
};

/// How many of the rules hold: when no token keeps them all, a sentence may end although it is too
/// short, and when that is not possible either, <unk> and repeats are better than nothing.
enum class Strictness { all, may_end, anything };
inline constexpr Strictness kFromStrict[] = {Strictness::all, Strictness::may_end,
                                             Strictness::anything};

/// Which tokens may not come next.
class TokenRules {
 public:
  /// \throws UsageError when the rules contradict each other
  TokenRules(const SentenceRules& rules, const SpecialTokens& special);

  /// The tokens that may not follow the sentence that ends with `node` and has `length` tokens;
  /// valid until the next call.
  const std::vector<std::int64_t>& forbidden(const SentenceTree& tree, std::int64_t node,
                                             std::int64_t length, Strictness strictness);

  /// An upper bound of what forbidden() gives for a sentence of that length.
  std::int64_t most_forbidden(std::int64_t length) const;

 private:
  void forbid_repeats(const SentenceTree& tree, std::int64_t node);

  SentenceRules rules_;
  SpecialTokens special_;
  std::vector<std::int64_t> forbidden_, history_;
};

}  // namespace vitascope::caption
