#include "vit/explain/legrad.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/vit/explain/golden_vit.h"

namespace vitascope::explain {
namespace {

class Legrad : public tests::GoldenExplanation {};

TEST_P(Legrad, GivesWhatPythonGave) {
  for (const std::int64_t index : vit.classes()) {
    const Recorded recorded = vit.record({.layer_gradients = true}, index);
    expect_golden(legrad(recorded), "map.legrad.class" + std::to_string(index));
  }
}

VITASCOPE_FOR_GOLDEN_VITS(Legrad);

}  // namespace
}  // namespace vitascope::explain
