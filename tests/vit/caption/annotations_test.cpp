#include "vit/caption/annotations.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "vit/caption/decoder_weights.h"

namespace vitascope::caption {
namespace {

TEST(Annotations, CoordinatesStandBehindTheValuesRowByRow) {
  const Annotations seen{.values = at::arange(12, at::kFloat).view({1, 6, 2}).expand({2, -1, -1}),
                         .rows = 2,
                         .columns = 3};
  const at::Tensor located = with_coordinates(seen).values;
  ASSERT_EQ(located.sizes(), at::IntArrayRef({2, 6, 4}));
  EXPECT_TRUE(at::equal(located.narrow(2, 0, 2), seen.values));
  const at::Tensor expected =
      at::tensor({-1, -1, -1, 0, -1, 1, 1, -1, 1, 0, 1, 1}, at::kFloat).view({6, 2});
  for (int photo = 0; photo < 2; ++photo) {
    EXPECT_TRUE(at::equal(located[photo].narrow(1, 2, 2), expected));
  }
  const Annotations one{.values = at::ones({1, 1, 2}), .rows = 1, .columns = 1};
  EXPECT_TRUE(at::equal(with_coordinates(one).values,
                        at::tensor({1., 1., 0., 0.}, at::kFloat).view({1, 1, 4})));
}

/// A decoder with coordinates is one without that is given them with the annotations.
TEST(Annotations, ADecoderAddsThemItself) {
  DecoderConfig config = completed({.vocabulary = 9,
                                    .width = 8,
                                    .embedding = 6,
                                    .alignment = {.annotation_width = 7, .width = 5}});
  RandomNumbers random(4);
  Decoder plain = initial_decoder(config, random);
  config.coordinates = true;
  const Decoder adding = decoder_of(config, tensors_of(plain), "test");
  at::manual_seed(3);
  const Annotations seen{.values = at::randn({2, 6, 5}), .rows = 2, .columns = 3};
  const at::Tensor tokens = at::tensor({1, 5, 6, 1, 7, 4}, at::kLong).view({2, 3});
  EXPECT_TRUE(at::equal(adding.teach(tokens, seen).logits,
                        plain.teach(tokens, with_coordinates(seen)).logits));
  DecoderState state = adding.start(seen), expected = plain.start(with_coordinates(seen));
  EXPECT_TRUE(at::equal(adding.step({1, 1}, state).logits, plain.step({1, 1}, expected).logits));
  EXPECT_THROW(adding.start(with_coordinates(seen)), std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::caption
