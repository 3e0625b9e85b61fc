#include "vit/caption/self_critical.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "vit/caption/captioning.h"
#include "vit/caption/vocabulary.h"
#include "vit/error.h"

namespace vitascope::caption {
namespace {

/// Sentences as one tensor, [B, T + 1] from <start> on, <pad> behind their ends.
at::Tensor told(const std::vector<std::vector<std::int64_t>>& sentences) {
  std::size_t longest = 0;
  for (const auto& sentence : sentences) longest = std::max(longest, sentence.size());
  at::Tensor tokens =
      at::full({std::ssize(sentences), static_cast<std::int64_t>(longest) + 1}, kPad, at::kLong);
  auto* row = tokens.mutable_data_ptr<std::int64_t>();
  for (const auto& sentence : sentences) {
    *row = kStart;
    std::ranges::copy(sentence, row + 1);
    row += longest + 1;
  }
  return tokens;
}

}  // namespace

at::Tensor self_critical_losses(const at::Tensor& log_probs, const at::Tensor& advantages) {
  return -advantages.detach() * log_probs;
}

at::Tensor log_prob_of_drawn(const at::Tensor& logits, const at::Tensor& targets) {
  const at::Tensor never = at::tensor({kPad, kStart, kUnknown}, at::kLong).to(logits.device());
  const at::Tensor log_probs =
      logits.index_fill(-1, never, -std::numeric_limits<float>::infinity()).log_softmax(-1);
  const at::Tensor live = targets != kPad;
  // <pad> was made impossible: another token stands in for it and counts nothing.
  const at::Tensor chosen = targets.masked_fill(live.logical_not(), kEnd);
  return (log_probs.gather(-1, chosen.unsqueeze(-1)).squeeze(-1) * live).sum(-1);
}

SelfCriticalLearner::SelfCriticalLearner(Decoder decoder, std::int64_t rows, std::int64_t columns,
                                         const CaptionLearning& options, std::int64_t longest,
                                         Reward reward)
    : CaptionLearner(std::move(decoder), rows, columns, options),
      rules_{.longest = longest, .shortest = 0, .no_repeat = 0},
      reward_(std::move(reward)) {
  if (this->decoder().config().attention == Attention::hard) {
    throw UsageError("self-critical training of hard attention: expected soft attention");
  }
}

SelfCriticalLearner::Drawn SelfCriticalLearner::draw(const Annotations& annotations,
                                                     const at::Tensor& photos,
                                                     RandomNumbers& random) const {
  const c10::AutoGradMode no_gradient(false);
  const std::int64_t count = photos.numel();
  std::vector<RandomNumbers> words;
  words.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    words.emplace_back(static_cast<std::uint64_t>(random.below(std::int64_t{1} << 53)));
  }
  const auto drawn = drawn_captions(decoder(), annotations, words, {.rules = rules_});
  const auto likeliest = captions_of(decoder(), annotations, {.beam = 1, .rules = rules_});
  Drawn result;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto photo = photos[i].item<std::int64_t>();
    const auto& tokens = drawn[static_cast<std::size_t>(i)].sentence.tokens;
    const auto& usual = likeliest[static_cast<std::size_t>(i)].front().sentence.tokens;
    result.advantages.push_back(reward_(photo, tokens) - reward_(photo, usual));
    result.tokens.push_back(tokens);
  }
  return result;
}

train::Lesson SelfCriticalLearner::learn(const train::Batch& batch, const train::BatchPart& part,
                                         RandomNumbers& random) {
  if (part.size == 0) return {};
  const at::Device device = parameters().front().tensor.device();
  const Annotations annotations = annotations_of(batch.inputs.to(device));
  const Drawn drawn = draw(annotations, batch.targets.flatten(), random);
  const at::Tensor tokens = told(drawn.tokens).to(device);
  const std::int64_t length = tokens.size(1) - 1;
  const Taught taught = decoder().teach(tokens.narrow(1, 0, length), annotations,
                                        {.half_expected = 1, .weights = false});
  const at::Tensor log_probs = log_prob_of_drawn(taught.logits, tokens.narrow(1, 1, length));
  const at::Tensor advantages =
      at::tensor(drawn.advantages, at::kDouble).to(device, log_probs.scalar_type());
  return {.losses = self_critical_losses(log_probs, advantages),
          .right = std::ranges::count_if(drawn.advantages, [](double x) { return x >= 0; }),
          .answers = std::ssize(drawn.advantages)};
}

}  // namespace vitascope::caption
