#include "vit/caption/alignment/multi_head.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "tests/vit/caption/golden_mechanism.h"

namespace vitascope::caption {
namespace {

using tests::GoldenMechanism;

class MultiHeadCross : public testing::Test {
 protected:
  MultiHeadCross() {
    attention.heads = sizes.at("heads");
    attention.list({.score = Score::multi_head,
                    .query_width = sizes.at("E"),
                    .annotation_width = sizes.at("C"),
                    .width = sizes.at("E"),
                    .heads = sizes.at("heads")},
                   "", slots);
    golden.fill(slots);
  }

  MultiHead::Result attend(Maps maps) const {
    const at::Tensor mask = golden.mask(context.size(1)).unsqueeze(1);
    return attention.attend(query, attention.project(context), {.visible = mask}, maps);
  }

  const GoldenMechanism golden{"mha_cross"};
  const Json sizes = tests::golden_sizes("mha_cross");
  const at::Tensor query = golden.leaf("query"), context = golden.leaf("context");
  MultiHead attention;
  Slots slots;
};

/// Without weights the kernels' own backward pass runs; with them autograd's of the formula.
TEST_F(MultiHeadCross, GradientsMatchGolden) {
  for (const Maps maps : {Maps::none, Maps::heads}) {
    SCOPED_TRACE(maps == Maps::none ? "fused" : "written out");
    for (const Slot& slot : slots) slot.tensor->mutable_grad() = at::Tensor();
    query.mutable_grad() = context.mutable_grad() = at::Tensor();
    const MultiHead::Result result = attend(maps);
    golden.expect("out", result.context);
    (result.context * golden["dout"]).sum().backward();
    golden.expect_gradients(slots);
    golden.expect_gradient("query", query);
    golden.expect_gradient("context", context);
  }
}

TEST_F(MultiHeadCross, WeightsMatchGolden) {
  golden.expect("weights", attend(Maps::heads).weights);
  const at::Tensor mean = golden["weights"].mean(1, true);
  tests::expect_close(attend(Maps::mean).weights, mean, 1e-6);
  const at::NoGradGuard guard;  // the kernels' map
  golden.expect("weights", attend(Maps::heads).weights);
  tests::expect_close(attend(Maps::mean).weights, mean, 1e-6);
  EXPECT_FALSE(attend(Maps::none).weights.defined());
}

}  // namespace
}  // namespace vitascope::caption
