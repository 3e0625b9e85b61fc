#include "vit/caption/sentence_audit.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "vit/caption/attention_change.h"

namespace vitascope::caption {
namespace {

using Tokens = std::vector<std::int64_t>;

double mean_log_prob(const Hypothesis& sentence) {
  return sentence.log_prob / static_cast<double>(sentence.tokens.size());
}

Tokens words_of(const Hypothesis& sentence) {
  Tokens words = sentence.tokens;
  if (sentence.finished) words.pop_back();
  return words;
}

std::size_t edit_distance(const Tokens& a, const Tokens& b) {
  std::vector<std::size_t> row(b.size() + 1);  // of the words of `a` so far, to each start of `b`
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t replaced = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t kept = replaced + (a[i] == b[j] ? 0 : 1);
      replaced = std::exchange(row[j + 1], std::min({kept, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

/// The photo once for every permutation, and once more with equal weights.
AttentionChange changes_of(const Annotations& photo, const SentenceAuditOptions& options) {
  const std::int64_t count = photo.values.size(1), kinds = options.permutations + 1;
  const at::Tensor seen = photo.mask.defined() ? photo.mask[0].cpu() : at::Tensor();
  RandomNumbers random(options.seed);
  AttentionChange change{.places = at::arange(count).repeat({kinds, 1}),
                         .even = at::zeros({kinds}, at::kBool)};
  for (std::int64_t i = 0; i < options.permutations; ++i) {
    change.places[i].copy_(shuffled_places(count, seen, random));
  }
  change.even[options.permutations].fill_(true);
  return change;
}

Annotations repeated(const Annotations& photo, std::int64_t times) {
  Annotations result = photo;
  result.values = photo.values.repeat({times, 1, 1});
  if (photo.mask.defined()) result.mask = photo.mask.repeat({times, 1});
  return result;
}

/// A sentence that the decoder was told.
struct Told {
  at::Tensor log_probs;  ///< [B, T] of its tokens
  at::Tensor weights;    ///< [B, T, L]
};

/// Tells it to every photo of `state`.
Told tell(const Decoder& decoder, DecoderState state, const Tokens& tokens) {
  Tokens before(static_cast<std::size_t>(state.rows.count()), kStart);
  std::vector<at::Tensor> log_probs, weights;
  log_probs.reserve(tokens.size());
  weights.reserve(tokens.size());
  for (const std::int64_t token : tokens) {
    const NextWord next = decoder.step(before, state);
    log_probs.push_back(next.logits.log_softmax(-1).select(1, token));
    weights.push_back(next.weights);
    std::ranges::fill(before, token);
  }
  return {at::stack(log_probs, 1), at::stack(weights, 1)};
}

}  // namespace

double words_differ(const Hypothesis& a, const Hypothesis& b) {
  const Tokens one = words_of(a), other = words_of(b);
  const std::size_t longer = std::max(one.size(), other.size());
  if (longer == 0) return 0;
  return static_cast<double>(edit_distance(one, other)) / static_cast<double>(longer);
}

SentenceAudit audit_sentence(const Decoder& decoder, const Annotations& annotations,
                             const Caption& own, const BeamOptions& search,
                             const SentenceAuditOptions& options) {
  const AttentionChange change = changes_of(annotations, options);
  const Annotations photos = repeated(annotations, options.permutations + 1);
  DecoderState state = decoder.start(photos);
  change_attention(state, change);
  const Told told = tell(decoder, state, own.sentence.tokens);
  const at::Tensor log_probs = told.log_probs.to(at::kDouble).mean(1).cpu();
  const at::Tensor weights =
      changed_weights(told.weights, change, photos.mask).to(at::kFloat).cpu();
  auto found = captions_from(decoder, std::move(state), search);
  SentenceAudit audit{.log_prob = mean_log_prob(own.sentence), .permuted = {}, .uniform = {}};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    ChangedSentence changed{.log_prob = log_probs[row].item<double>(),
                            .weights = weights[row],
                            .sentence = std::move(found[i].front().sentence)};
    changed.words_differ = words_differ(own.sentence, changed.sentence);
    if (row < options.permutations) {
      audit.permuted.push_back(std::move(changed));
    } else {
      audit.uniform = std::move(changed);
    }
  }
  return audit;
}

}  // namespace vitascope::caption
