#include "tests/simt/expectation.h"

namespace simt {
namespace {

using vitascope::kernels::AttentionProblem;
using vitascope::kernels::MapGradientProblem;
using vitascope::kernels::MapProblem;
using vitascope::kernels::cuda::launch;

std::vector<float> values_of(const DeviceArray& array) {
  std::vector<float> values;
  for (std::size_t i = 0; i < array.size(); ++i) values.push_back(array[i]);
  return values;
}

/// The map of queries 0 .. row_count - 1.
std::vector<float> run_map(const GoldenCase& golden, Element element, std::int64_t row_count,
                           bool head_mean, bool lengths_as_mask = false) {
  const DeviceInputs inputs(golden, element, 0, lengths_as_mask);
  MapProblem problem;
  inputs.describe(problem);
  const DeviceArray lse(golden.tensors.at("lse").values, Element::f32);
  const std::int64_t planes = problem.batch * (head_mean ? 1 : problem.heads);
  const DeviceArray map(planes * row_count * problem.keys, Element::f32);
  problem.lse = static_cast<const float*>(lse.data());
  problem.row_count = row_count;
  problem.head_mean = head_mean;
  problem.map = static_cast<float*>(map.data());
  const char* unsupported = launch(problem, kSmallestChip, nullptr);
  if (unsupported != nullptr) throw std::runtime_error(unsupported);
  return values_of(map);
}

/// The gradient of the queries of `rows`.
std::vector<float> run_gradient(const GoldenCase& golden, Element element,
                                const std::vector<std::int64_t>& rows) {
  const DeviceInputs inputs(golden, element);
  MapGradientProblem problem;
  inputs.describe(problem);
  const DeviceArray dout(in_planes(golden, "dout"), element);
  const GlobalBuffer asked(rows.size() * sizeof(std::int64_t));
  std::copy(rows.begin(), rows.end(), reinterpret_cast<std::int64_t*>(asked.data()));
  const DeviceArray gradient(problem.batch * problem.heads * rows.size() * problem.keys,
                             Element::f32);
  problem.dout = dout.data();
  problem.dout_strides = planes(problem.heads, problem.queries, problem.width);
  problem.rows = reinterpret_cast<const std::int64_t*>(asked.data());
  problem.row_count = static_cast<std::int64_t>(rows.size());
  problem.gradient = static_cast<float*>(gradient.data());
  const char* unsupported = launch(problem, kSmallestChip, nullptr);
  if (unsupported != nullptr) throw std::runtime_error(unsupported);
  return values_of(gradient);
}

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
    expect_near(run_map(golden, Element::bf16, 1, false, true),
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
      expect_near(run_gradient(golden, element, rows), expected, 1e-4, name + type_name(element));
    }
  }
}

}  // namespace
}  // namespace simt
