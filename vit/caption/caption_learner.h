#pragma once

#include <string>
#include <utility>
#include <vector>

#include "vit/caption/decoder.h"
#include "vit/caption/losses.h"
#include "vit/train/learner.h"

/// \file
/// A decoder that learns captions.
namespace vitascope::caption {

/// How it learns.
struct CaptionLearning {
  double weight_decay = 0;     ///< of products; words, norms and biases have none
  double penalty = 1;          ///< lambda of doubly stochastic attention
  double focus = 0;            ///< \see focus_penalty
  double dropout = 0.5;        ///< before the vocabulary
  double own_words = 0;        ///< \see TeachOptions
  double half_expected = 0.5;  ///< \see TeachOptions
  HardOptions hard{};
};

/// H of each word's weights, in nats: 0 of one place, ln L of all alike.
/// \param weights [..., L] \return [...]
at::Tensor attention_entropies(const at::Tensor& weights);

/// lambda mean_b sum_t H(alpha_t): every word is to look at few places, the opposite of what the
/// doubly stochastic penalty is for (entropy minimisation, Grandvalet and Bengio 2005).
/// \param weights [B, T, L] \param live bool [B, T], the words that count
at::Tensor focus_penalty(const at::Tensor& weights, const at::Tensor& live, double lambda);

/// Batches: inputs are annotations [B, L, D], targets int64 [B, T + 1], tokens from <start> to
/// <end> and <pad> behind. The loss of a caption is the sum over its words (Xu et al. 2015,
/// arXiv:1502.03044); with hard attention, minus its variational bound's estimate.
class CaptionLearner : public train::Learner {
 public:
  /// \param decoder its parameters become trainable, in memory of their own
  /// \param rows, columns of the annotations' grid
  /// \throws UsageError when an option is out of range
  CaptionLearner(Decoder decoder, std::int64_t rows, std::int64_t columns,
                 const CaptionLearning& options);

  const std::vector<train::Parameter>& parameters() const override { return parameters_; }
  void prepare(train::Batch& /*batch*/, RandomNumbers& /*random*/) const override {}
  at::Tensor weights(const train::Batch& batch) const override;
  train::Lesson learn(const train::Batch& batch, const train::BatchPart& part,
                      RandomNumbers& random) override;
  std::string state() const override;
  void restore(const std::string& state) override;

  /// As it is trained now.
  const Decoder& decoder() const { return decoder_; }
  /// The decoder with other values of its parameters, without gradients.
  Decoder decoder_with(const train::NamedTensors& values) const;

 protected:
  /// A batch's annotations, on the grid. \param values [B, L, D]
  Annotations annotations_of(at::Tensor values) const {
    return {.values = std::move(values), .rows = rows_, .columns = columns_};
  }

 private:
  CaptionLearning options_;
  Decoder decoder_;
  std::int64_t rows_, columns_;
  std::vector<train::Parameter> parameters_;
  Baseline baseline_{};  ///< of hard attention
};

}  // namespace vitascope::caption
