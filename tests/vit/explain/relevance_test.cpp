#include "vit/explain/relevance.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/vit/explain/golden_vit.h"

namespace vitascope::explain {
namespace {

class Relevance : public tests::GoldenExplanation {};

TEST_P(Relevance, GivesWhatPythonGave) {
  Recorded recorded = vit.record({.attention_gradients = true});
  for (const std::int64_t index : vit.classes()) {
    take_gradients(vit.network, recorded, {index});
    const std::string name = "class" + std::to_string(index);
    expect_golden(relevance(recorded), "map.chefer." + name);
    const at::Tensor whole = relevance_rows(recorded, at::eye(recorded.readout.size(1)));
    EXPECT_LE(tests::relative_difference(whole, vit["chefer.R." + name]), tests::kRelative);
  }
}

VITASCOPE_FOR_GOLDEN_VITS(Relevance);

}  // namespace
}  // namespace vitascope::explain
