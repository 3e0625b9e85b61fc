#include "tests/simt/expectation.h"
#include "tests/simt/kernel_runs.h"

namespace simt {
namespace {

class SimtMap : public testing::TestWithParam<CaseAndType> {};

TEST_P(SimtMap, KeepsTheLimits) {
  const auto& [name, element] = GetParam();
  const GoldenCase golden = read_golden_case(name);
  expect_near(run_map(golden, element, 1, false), golden.tensors.at("cls_probs").values,
              golden.limit("cls_probs", element), "cls_probs");
  expect_near(run_map(golden, element, 1, true), golden.tensors.at("cls_probs_headmean").values,
              golden.limit("cls_probs_headmean", element), "cls_probs_headmean");
  if (!golden.tensors.contains("probs_headmean")) return;
  expect_near(run_map(golden, element, golden.size("Nq"), true),
              golden.tensors.at("probs_headmean").values, golden.limit("probs_headmean", element),
              "probs_headmean");
}

INSTANTIATE_TEST_SUITE_P(Golden, SimtMap, every_case_and_type(), case_and_type_name);

TEST(SimtMapMask, HidesPoisonedKeys) {
  for (const char* name : {"poison_n17_d32", "poison_n50_d32", "poison_dead_n16_d16"}) {
    const GoldenCase golden = read_golden_case(name);
    expect_near(run_map(golden, Element::bf16, 1, false, {.lengths_as_mask = true}),
                golden.tensors.at("cls_probs").values, golden.limit("cls_probs", Element::bf16),
                name);
  }
}

// d loss / d probability = dout v^T, where the query sees the key; here in float64.
TEST(SimtMapGradient, IsDoutTimesV) {
  for (const char* name : {"self_n17_d72", "dead_row_n17_d32", "bias_neginf_n17_d16"}) {
    const GoldenCase golden = read_golden_case(name);
    const std::int64_t planes = golden.size("B") * golden.size("H"), keys = golden.size("Nk"),
                       queries = golden.size("Nq"), width = golden.size("D");
    const auto dout = in_planes(golden, "dout"), v = in_planes(golden, "v");
    const auto hidden = [&](const char* tensor, std::int64_t at, float sign) {
      return golden.tensors.contains(tensor) && golden.tensors.at(tensor).values[at] == sign;
    };
    const std::vector<std::int64_t> rows = {16, 0, 7};
    std::vector<float> expected;
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      for (const std::int64_t i : rows) {
        for (std::int64_t j = 0; j < keys; ++j) {
          double sum = 0;
          for (std::int64_t d = 0; d < width; ++d) {
            sum +=
                double{dout[(plane * queries + i) * width + d]} * v[(plane * keys + j) * width + d];
          }
          const bool hides = hidden("attn_mask", i * keys + j, 0) ||
                             hidden("bias", (plane * queries + i) * keys + j, -INFINITY);
          expected.push_back(hides ? 0 : static_cast<float>(sum));
        }
      }
    }
    for (const Element element : {Element::f32, Element::bf16, Element::f16}) {
      expect_near(run_map_gradient(golden, element, rows), expected, 1e-4,
                  name + type_name(element));
    }
  }
}

}  // namespace
}  // namespace simt
