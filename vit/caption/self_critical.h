#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "vit/caption/caption_learner.h"
#include "vit/caption/sentences.h"

/// \file
/// Self-critical training (Rennie et al. 2017, arXiv:1612.00563): a decoder learns from what its
/// own sentences are worth.
namespace vitascope::caption {

/// What a sentence is worth, e.g. its CIDEr-D.
/// \param photo as Batch::targets names it
/// \param tokens without <start>; with <end> when the sentence came to its end
using Reward = std::function<double(std::int64_t photo, const std::vector<std::int64_t>& tokens)>;

/// minus (r(drawn) - r(likeliest)) log p(drawn), one number a photo: REINFORCE (Williams 1992)
/// whose baseline is the sentence that the decoder would say. \param log_probs [B], of the drawn
/// sentences, with gradients \param advantages [B]
at::Tensor self_critical_losses(const at::Tensor& log_probs, const at::Tensor& advantages);

/// log p of each sentence when only those are drawn that the rules of sentences allow: <pad>,
/// <start> and <unk> have no part in it.
/// \param logits [B, T, V] \param targets int64 [B, T], the word after each; <pad> counts nothing
/// \return [B]
at::Tensor log_prob_of_drawn(const at::Tensor& logits, const at::Tensor& targets);

/// Batches: inputs are annotations [B, L, D], targets int64 [B, 1], numbers of photos. Of a Lesson,
/// those are right whose drawn sentence is worth no less than the likeliest one. There is no
/// dropout, so that what is drawn from and what learns is one decoder.
class SelfCriticalLearner : public CaptionLearner {
 public:
  /// \param longest tokens of a sentence, <end> included
  /// \throws UsageError as CaptionLearner; with hard attention, whose places would have to be drawn
  ///         twice
  SelfCriticalLearner(Decoder decoder, std::int64_t rows, std::int64_t columns,
                      const CaptionLearning& options, std::int64_t longest, Reward reward);

  train::Lesson learn(const train::Batch& batch, const train::BatchPart& part,
                      RandomNumbers& random) override;

 private:
  /// A drawn sentence of each photo, and how much more it is worth than the likeliest.
  struct Drawn {
    std::vector<std::vector<std::int64_t>> tokens;
    std::vector<double> advantages;
  };
  Drawn draw(const Annotations& annotations, const at::Tensor& photos, RandomNumbers& random) const;

  SentenceRules rules_;
  Reward reward_;
};

}  // namespace vitascope::caption
