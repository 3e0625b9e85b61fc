#include "vit/model/sincos_positions.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/vit/model/golden_tensors.h"

namespace vitascope::model {
namespace {

TEST(SincosPositions, AreThoseOfMae) {
  const at::Tensor expected = tests::golden_stem("sincos");
  const at::Tensor got = sincos_positions(16, {3, 5}, 1);
  ASSERT_EQ(got.sizes(), expected.sizes());
  EXPECT_LE((got - expected).abs().max().item<double>(), 1e-7);
  EXPECT_TRUE(at::equal(sincos_positions(16, {3, 5}, 0)[0], got[0].slice(0, 1)));
}

TEST(SincosPositions, NeedAWidthThatHasFourParts) {
  EXPECT_THROW(sincos_positions(18, {3, 5}, 1), std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::model
