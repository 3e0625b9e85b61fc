#include "vit/explain/gradcam.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/vit/explain/golden_vit.h"

namespace vitascope::explain {
namespace {

class Gradcam : public tests::GoldenExplanation {};

TEST_P(Gradcam, GivesWhatPythonGave) {
  for (const std::int64_t index : vit.classes()) {
    const Recorded recorded = vit.record({.norm1_gradient = true}, index);
    const std::string name = "class" + std::to_string(index);
    expect_golden(gradcam(recorded), "map.gradcam." + name);
    expect_golden(gradcam(recorded, false), "map.gradcam_norelu." + name);
    EXPECT_TRUE(min_max(gradcam(recorded).values).isfinite().all().item<bool>());
  }
}

TEST_P(Gradcam, NeedsGradients) {
  EXPECT_THROW(gradcam(vit.record({.norm1_gradient = true})), std::invalid_argument);
}

VITASCOPE_FOR_GOLDEN_VITS(Gradcam);

}  // namespace
}  // namespace vitascope::explain
