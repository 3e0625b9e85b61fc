#include "vit/caption/sentence_audit.h"

#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>

#include "tests/vit/caption/changed_decoders.h"
#include "vit/caption/attention_change.h"

namespace vitascope::caption {
namespace {

using tests::ChangedDecoders;
using tests::FormulaDecoder;
using tests::WeightChange;
using Tokens = std::vector<std::int64_t>;

Hypothesis finished(Tokens words) {
  Hypothesis sentence;
  sentence.tokens = std::move(words);
  sentence.tokens.push_back(kEnd);
  sentence.finished = true;
  return sentence;
}

TEST(WordsDiffer, IsTheEditDistanceOverTheLongerLength) {
  EXPECT_EQ(words_differ(finished({4, 5, 6}), finished({4, 5, 6})), 0);
  EXPECT_DOUBLE_EQ(words_differ(finished({4, 5, 6, 7}), finished({4, 6, 7})), 1. / 4);
  EXPECT_DOUBLE_EQ(words_differ(finished({4, 6, 7}), finished({4, 5, 6, 7})), 1. / 4);
  EXPECT_DOUBLE_EQ(words_differ(finished({4, 5}), finished({5, 4, 8})), 2. / 3);
  EXPECT_EQ(words_differ(finished({4, 5}), finished({6, 7})), 1);
  EXPECT_EQ(words_differ(finished({4}), finished({})), 1);
  EXPECT_EQ(words_differ(finished({}), finished({})), 0);
  Hypothesis cut;  // without an <end>
  cut.tokens = {4, 5};
  EXPECT_EQ(words_differ(cut, finished({4, 5})), 0);
}

class AnySentenceAudit : public ChangedDecoders {
 protected:
  Caption own() const { return captions_of(decoder, photo, search).front().front(); }
  SentenceAudit audit() const {
    return audit_sentence(decoder, photo, own(), search, {.permutations = 3, .seed = 8});
  }

  /// The mean log-probability of a caption's tokens.
  double log_prob(const FormulaDecoder& formula, const Tokens& caption,
                  const WeightChange& change) const {
    Tokens before{kStart};
    before.insert(before.end(), caption.begin(), caption.end() - 1);
    const at::Tensor all = formula.logits(before, change).log_softmax(-1);
    return all.gather(1, at::tensor(caption, at::kLong).unsqueeze(1)).mean().item<double>();
  }

  /// The likeliest word after the other.
  Tokens greedy(const FormulaDecoder& formula, const WeightChange& change) const {
    Tokens said{kStart};
    while (said.back() != kEnd && std::ssize(said) <= search.rules.longest) {
      const at::Tensor next = formula.logits(said, change)[std::ssize(said) - 1].clone();
      for (const std::int64_t never : {kStart, kPad, kUnknown}) next[never].fill_(-1e300);
      if (said.size() == 1) next[kEnd].fill_(-1e300);
      said.push_back(next.argmax().item<std::int64_t>());
    }
    said.erase(said.begin());
    return said;
  }

  void expect_no_change() const {
    const SentenceAudit found = audit();
    std::vector<ChangedSentence> all = found.permuted;
    all.push_back(found.uniform);
    ASSERT_EQ(all.size(), 4u);
    for (const ChangedSentence& one : all) {
      EXPECT_NEAR(one.log_prob, found.log_prob, 1e-6);
      EXPECT_EQ(one.sentence.tokens, own().sentence.tokens);
      EXPECT_EQ(one.words_differ, 0);
    }
  }

  at::Tensor& parameter(const std::string& name) {
    for (const Slot& slot : decoder.slots()) {
      if (slot.name == name) return *slot.tensor;
    }
    throw std::out_of_range(name);
  }

  const c10::InferenceMode guard;
  const Annotations photo{annotations.values.narrow(0, 2, 1), 3, 4};
  const BeamOptions search{.beam = 1, .rules = {.longest = 6}};
};

TEST_P(AnySentenceAudit, IsTheFormulas) {
  const FormulaDecoder formula(decoder, photo.values[0], {});
  const Tokens caption = own().sentence.tokens;
  const SentenceAudit found = audit();
  EXPECT_NEAR(found.log_prob, log_prob(formula, caption, [](const at::Tensor& x) { return x; }),
              1e-5);
  ASSERT_EQ(found.permuted.size(), 3u);
  RandomNumbers random(8);
  double most = 0;
  for (const ChangedSentence& one : found.permuted) {
    const at::Tensor from = shuffled_places(12, {}, random).argsort();  // the inverse
    const auto permuted = [&](const at::Tensor& x) { return x.index_select(-1, from); };
    EXPECT_NEAR(one.log_prob, log_prob(formula, caption, permuted), 1e-5);
    EXPECT_EQ(one.sentence.tokens, greedy(formula, permuted));
    most = std::max(most, std::abs(one.log_prob - found.log_prob));
    EXPECT_EQ(one.weights.sizes(), (at::IntArrayRef{std::ssize(caption), 12}));
  }
  EXPECT_GT(most, 1e-3);
  const auto even = [](const at::Tensor& x) { return at::full_like(x, 1. / 12); };
  EXPECT_NEAR(found.uniform.log_prob, log_prob(formula, caption, even), 1e-5);
  EXPECT_EQ(found.uniform.sentence.tokens, greedy(formula, even));
  tests::expect_close(found.uniform.weights, at::full_like(found.uniform.weights, 1. / 12), 1e-6);
  // The first word has seen nothing yet: its weights are the decoder's own, elsewhere.
  if (GetParam().config.kind == DecoderKind::lstm) {
    tests::expect_close(std::get<0>(found.permuted[0].weights[0].sort()),
                        std::get<0>(own().weights[0].sort()), 1e-6);
  }
}

/// A decoder that does not read what it looks at says the same wherever it looks.
TEST_P(AnySentenceAudit, ContextThatIsIgnoredChangesNothing) {
  if (GetParam().config.kind == DecoderKind::lstm) {
    parameter("out.L_z").zero_();
    parameter("lstm.weight_ih").narrow(1, 6, parameter("out.L_z").size(1)).zero_();
  } else {
    for (const char* layer : {"layers.0.", "layers.1."}) {
      parameter(std::string(layer) + "cross_attn.W_O").zero_();
    }
  }
  expect_no_change();
}

/// All but hard attention, which takes one place whatever the weights.
class SoftSentenceAudit : public AnySentenceAudit {};

TEST_P(SoftSentenceAudit, AttentionThatIsEvenIsUnchanged) {
  for (const char* name :
       {"att.v", "att.W_K", "layers.0.cross_attn.W_K", "layers.1.cross_attn.W_K"}) {
    for (const Slot& slot : decoder.slots()) {
      if (slot.name == name) slot.tensor->zero_();
    }
  }
  expect_no_change();
}

INSTANTIATE_TEST_SUITE_P(All, AnySentenceAudit, testing::ValuesIn(tests::changed_decoders()),
                         [](const auto& info) { return info.param.name; });

std::vector<tests::ChangedKind> soft_decoders() {
  std::vector<tests::ChangedKind> kinds = tests::changed_decoders();
  std::erase_if(kinds, [](const tests::ChangedKind& kind) {
    return kind.config.attention == Attention::hard;
  });
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Soft, SoftSentenceAudit, testing::ValuesIn(soft_decoders()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace vitascope::caption
