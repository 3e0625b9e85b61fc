#include "vit/caption/convolution.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace vitascope::caption {
namespace {

/// One input channel, one output channel, all weights 1: sums over the window.
Convolution sums(std::int64_t kernel, std::int64_t stride, bool same) {
  return {.name = "c",
          .kernel = kernel,
          .stride = stride,
          .same_padding = same,
          .weight = at::ones({1, 1, kernel, kernel}),
          .bias = {},
          .norm = {}};
}

TEST(Convolution, PutsTensorFlowsOddZeroBehind) {
  const at::Tensor x = at::arange(1, 5, at::kFloat).view({1, 1, 1, 4});
  // Rows: one output, its window one above and one below. Columns: 4 inputs, 2 outputs of windows
  // 0..2 and 2..4, of which the last is a zero.
  const at::Tensor same = sums(3, 2, true).forward(x);
  EXPECT_TRUE(at::equal(same.flatten(), at::tensor({6.0f, 7.0f})));
  // PyTorch's own padding: windows -1..1 and 1..3.
  const at::Tensor centred = sums(3, 2, false).forward(x);
  EXPECT_TRUE(at::equal(centred.flatten(), at::tensor({3.0f, 9.0f})));
}

TEST(Convolution, PaddedLikeTensorFlowWhatFitsNeedsNoZeros) {
  const at::Tensor x = at::arange(1, 4, at::kFloat).view({1, 1, 1, 3});
  // 3 inputs, 2 outputs: one zero on each side.
  EXPECT_TRUE(at::equal(sums(3, 2, true).forward(x).flatten(), at::tensor({3.0f, 5.0f})));
}

TEST(Convolution, BoundsAndSumsInTheRightOrder) {
  Convolution c = sums(1, 1, false);
  const at::Tensor x = at::tensor({-3.0f, 2.0f, 5.0f, 9.0f}).view({1, 1, 1, 4});
  const at::Tensor added = at::tensor({1.0f, -4.0f, 3.0f, -8.0f}).view({1, 1, 1, 4});
  for (const bool packed : {false, true}) {
    c.activation = Activation::none;
    if (packed) c.pack();
    const auto with = [&](Activation activation) {
      c.activation = activation;
      return c.forward(x, added.clone()).flatten();
    };
    EXPECT_TRUE(at::equal(with(Activation::none), at::tensor({-2.0f, -2.0f, 8.0f, 1.0f})));
    EXPECT_TRUE(at::equal(with(Activation::relu), at::tensor({0.0f, 0.0f, 8.0f, 1.0f})));
    EXPECT_TRUE(at::equal(with(Activation::relu6), at::tensor({0.0f, 0.0f, 6.0f, 1.0f})));
  }
}

TEST(Convolution, GivesNoGradientsPacked) {
  Convolution c = sums(1, 1, false);
  c.pack();
  if (!c.weight.is_mkldnn()) GTEST_SKIP() << "this LibTorch has no packed convolution";
  EXPECT_THROW(c.forward(at::ones({1, 1, 2, 2}).requires_grad_()), c10::Error);
}

}  // namespace
}  // namespace vitascope::caption
