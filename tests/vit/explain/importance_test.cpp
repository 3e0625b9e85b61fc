#include "vit/explain/importance.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/vit/explain/golden_vit.h"
#include "vit/explain/answers.h"
#include "vit/explain/perturbation.h"

namespace vitascope::explain {
namespace {

using tests::expect_close;
using tests::GoldenVit;

class GoldenImportance : public testing::TestWithParam<const char*> {};

/// Python wrote down the logits with each patch set to 0.
TEST_P(GoldenImportance, LeavingOnePatchOutMovesTheAnswerAsInPython) {
  const GoldenVit vit(GetParam());
  const at::Tensor without = vit["occlusion.logits"].to(at::kDouble).softmax(-1);
  const at::Tensor whole = vit["logits"].to(at::kDouble).softmax(-1).view({1, -1});
  const at::Tensor expected =
      ((without - whole).abs().sum(1) / 2).view({vit.grid().rows, vit.grid().columns});
  const at::Tensor pixels = vit["image"];
  for (const std::int64_t batch : {1, 4, 16}) {
    expect_close(leave_one_out(probabilities_of(vit.network), pixels, at::zeros_like(pixels),
                               vit.grid().rows, vit.grid().columns, {batch, {}}),
                 expected, 5e-5);
  }
}

/// To first order the logit loses what the gradient says when a patch fades a little.
TEST_P(GoldenImportance, GradientsAreTheSlopeOfFading) {
  const GoldenVit vit(GetParam());
  const std::int64_t of_class = vit.classes().front();
  const at::Tensor importance = gradient_importance(vit.network, vit["image"], of_class);
  ASSERT_EQ(importance.sizes(), (std::vector<std::int64_t>{vit.grid().rows, vit.grid().columns}));
  const auto logit = [&](std::int64_t patch, double scale) {
    at::Tensor pixels = vit["image"].clone();
    cell_pixels(pixels, patch, vit.grid().rows, vit.grid().columns).mul_(scale);
    return vit.logits(pixels)[0][of_class].item<double>();
  };
  at::Tensor expected = at::empty({vit.grid().count()}, at::kDouble);
  constexpr double kFade = 0.02;
  for (std::int64_t patch = 0; patch < vit.grid().count(); ++patch) {
    expected[patch] = std::abs(logit(patch, 1 + kFade) - logit(patch, 1 - kFade)) / (2 * kFade);
  }
  expect_close(importance.flatten(), expected, 5e-3);
}
VITASCOPE_FOR_GOLDEN_VITS(GoldenImportance);

}  // namespace
}  // namespace vitascope::explain
