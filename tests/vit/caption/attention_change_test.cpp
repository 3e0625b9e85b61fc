#include "vit/caption/attention_change.h"

#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>

#include "tests/vit/caption/changed_decoders.h"
#include "tests/vit/caption/golden_mechanism.h"

namespace vitascope::caption {
namespace {

using tests::ChangedDecoders;
using tests::FormulaDecoder;

/// alpha'[places[i]] = alpha[i], a number after the other.
at::Tensor moved(const at::Tensor& weights, const at::Tensor& places) {
  at::Tensor result = at::zeros_like(weights);
  for (std::int64_t i = 0; i < places.size(0); ++i) {
    result.select(-1, places[i].item<std::int64_t>()).copy_(weights.select(-1, i));
  }
  return result;
}

class AnyChangedDecoder : public ChangedDecoders {
 protected:
  /// The first photo's places are permuted, the second's weights even, the third's both, of which
  /// even ones win; the fourth's stay.
  void expect_formula(const Annotations& seen) const {
    const c10::InferenceMode guard;
    AttentionChange change{at::arange(12).repeat({4, 1}), at::tensor({0, 1, 1, 0}).to(at::kBool)};
    RandomNumbers random(5);
    for (const std::int64_t photo : {0, 2}) {
      change.places[photo].copy_(
          shuffled_places(12, seen.mask.defined() ? seen.mask[photo] : at::Tensor(), random));
    }
    DecoderState state = decoder.start(seen);
    change_attention(state, change);
    std::vector<at::Tensor> logits;
    for (const std::int64_t token : tokens) {
      logits.push_back(decoder.step(std::vector<std::int64_t>(4, token), state).logits);
    }
    const at::Tensor got = at::stack(logits, 1).to(at::kDouble);
    for (std::int64_t photo = 0; photo < 4; ++photo) {
      SCOPED_TRACE(photo);
      const at::Tensor visible = seen.mask.defined() ? seen.mask[photo] : at::Tensor();
      const FormulaDecoder formula(decoder, seen.values[photo], visible);
      const at::Tensor level = visible.defined()
                                   ? visible.to(at::kDouble) / visible.sum().item<double>()
                                   : at::full({12}, 1. / 12, at::kDouble);
      const at::Tensor expected = formula.logits(tokens, [&](const at::Tensor& weights) {
        return change.even[photo].item<bool>() ? level.expand_as(weights)
                                               : moved(weights, change.places[photo]);
      });
      tests::expect_close(got[photo], expected, 2e-5);
      const at::Tensor own =
          formula.logits(tokens, [](const at::Tensor& weights) { return weights; });
      if (photo < 3) {
        EXPECT_GT((own - expected).abs().max().item<double>(), 1e-3) << "the change is to be seen";
      }
    }
  }
};

TEST_P(AnyChangedDecoder, ReadsWithTheChangedWeights) { expect_formula(annotations); }

TEST_P(AnyChangedDecoder, ReadsNothingHidden) {
  Annotations masked = annotations;
  masked.mask = at::ones({4, 12}, at::kBool);
  for (std::int64_t photo = 0; photo < 4; ++photo) {
    masked.mask[photo].narrow(0, 1 + photo, 4).fill_(false);
  }
  expect_formula(masked);
}

INSTANTIATE_TEST_SUITE_P(All, AnyChangedDecoder, testing::ValuesIn(tests::changed_decoders()),
                         [](const auto& info) { return info.param.name; });

TEST(ShuffledPlaces, AreAllPlacesAndHiddenOnesStay) {
  RandomNumbers random(1), again(1);
  const at::Tensor seen = at::arange(40).remainder(3) != 0;
  const at::Tensor places = shuffled_places(40, seen, random);
  EXPECT_TRUE(places.equal(shuffled_places(40, seen, again)));
  EXPECT_TRUE(std::get<0>(places.sort()).equal(at::arange(40)));
  EXPECT_FALSE(places.equal(at::arange(40)));
  const at::Tensor hidden = seen.logical_not();
  EXPECT_TRUE(places.index({hidden}).equal(at::arange(40).index({hidden})));
  EXPECT_FALSE(shuffled_places(40, {}, random).equal(shuffled_places(40, {}, random)));
}

TEST(ChangedWeights, FallWhereTheChangeSays) {
  const at::Tensor weights = at::tensor({.5F, .25F, .125F, 0.F}).view({1, 1, 4}).repeat({2, 1, 1});
  const AttentionChange change{at::tensor({2, 0, 1, 3}, at::kLong).repeat({2, 1}),
                               at::tensor({0, 1}).to(at::kBool)};
  const at::Tensor all = changed_weights(weights, change, {});
  EXPECT_TRUE(all[0][0].equal(at::tensor({.25F, .125F, .5F, 0.F})));
  EXPECT_TRUE(all[1][0].equal(at::full({4}, .875F / 4)));  // a window's sum stays below 1
  const at::Tensor seen = at::tensor({1, 1, 1, 0}).to(at::kBool).repeat({2, 1});
  tests::expect_close(changed_weights(weights, change, seen)[1][0],
                      at::tensor({.875F / 3, .875F / 3, .875F / 3, 0.F}), 1e-7);
}

}  // namespace
}  // namespace vitascope::caption
