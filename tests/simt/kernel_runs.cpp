#include "tests/simt/kernel_runs.h"

#include <algorithm>
#include <stdexcept>

#include "kernels/cuda/attention.cuh"

namespace simt {
namespace {

using vitascope::kernels::BackwardProblem;
using vitascope::kernels::ForwardProblem;
using vitascope::kernels::MapGradientProblem;
using vitascope::kernels::MapProblem;
using vitascope::kernels::cuda::Chip;
using vitascope::kernels::cuda::launch;
using vitascope::kernels::cuda::supports;

/// Dynamic shared memory of a block on sm_89 and sm_120, which have the least.
constexpr Chip kSmallestChip{99 * 1024};

std::vector<float> values_of(const DeviceArray& array) {
  std::vector<float> values;
  for (std::size_t i = 0; i < array.size(); ++i) values.push_back(array[i]);
  return values;
}

/// Reads [B, H, N, D] that lies as [B, N, H, D] into that order.
std::vector<float> from_rows_of_heads(const DeviceArray& array, std::int64_t batch,
                                      std::int64_t heads, std::int64_t tokens, std::int64_t width) {
  std::vector<float> result;
  const auto strides = rows_of_heads(heads, tokens, width);
  for (std::int64_t row = 0; row < batch * heads * tokens; ++row) {
    const std::int64_t plane = row / tokens;
    const std::int64_t begin = strides.offset(plane / heads, plane % heads, row % tokens);
    for (std::int64_t d = 0; d < width; ++d) result.push_back(array[begin + d]);
  }
  return result;
}

}  // namespace

ForwardResult run_forward(const GoldenCase& golden, Element element, const Layout& layout) {
  const DeviceInputs inputs(golden, element, layout.misalignment, layout.lengths_as_mask);
  ForwardProblem problem;
  inputs.describe(problem);
  const std::int64_t rows = problem.batch * problem.heads * problem.queries;
  const DeviceArray out(rows * problem.width, element, layout.misalignment);
  const DeviceArray lse(rows, Element::f32);
  problem.out = out.data();
  problem.out_strides = rows_of_heads(problem.heads, problem.queries, problem.width);
  problem.lse = static_cast<float*>(lse.data());
  const Chip chip{layout.shared_bytes};
  const char* unsupported = launch(problem, chip, nullptr);
  if (unsupported != nullptr) throw std::runtime_error(unsupported);
  ForwardResult result{
      from_rows_of_heads(out, problem.batch, problem.heads, problem.queries, problem.width),
      {},
      supports(problem, chip).kernel};
  for (std::int64_t row = 0; row < rows; ++row) result.lse.push_back(lse[row]);
  return result;
}

Gradients run_backward(const GoldenCase& golden, Element element, const Layout& layout) {
  const DeviceInputs inputs(golden, element, layout.misalignment, layout.lengths_as_mask);
  BackwardProblem problem;
  inputs.describe(problem);
  const DeviceArray out(in_planes(golden, "out"), element, layout.misalignment);
  const DeviceArray dout(in_planes(golden, "dout"), element, layout.misalignment);
  const DeviceArray lse(golden.tensors.at("lse").values, Element::f32);
  const DeviceArray delta(lse.size(), Element::f32);
  const std::int64_t planes_of_keys = problem.batch * problem.heads * problem.keys;
  const DeviceArray dq(out.size(), element, layout.misalignment);
  const DeviceArray dk(planes_of_keys * problem.width, element, layout.misalignment);
  const DeviceArray dv(planes_of_keys * problem.width, element, layout.misalignment);
  problem.out = out.data();
  problem.dout = dout.data();
  problem.out_strides = problem.dout_strides =
      planes(problem.heads, problem.queries, problem.width);
  problem.lse = static_cast<const float*>(lse.data());
  problem.dq = dq.data();
  problem.dk = dk.data();
  problem.dv = dv.data();
  problem.dq_strides = rows_of_heads(problem.heads, problem.queries, problem.width);
  problem.dk_strides = problem.dv_strides =
      rows_of_heads(problem.heads, problem.keys, problem.width);
  const char* unsupported =
      launch(problem, static_cast<float*>(delta.data()), {layout.shared_bytes}, nullptr);
  if (unsupported != nullptr) throw std::runtime_error(unsupported);
  const auto read = [&](const DeviceArray& array, std::int64_t tokens) {
    return from_rows_of_heads(array, problem.batch, problem.heads, tokens, problem.width);
  };
  return {read(dq, problem.queries), read(dk, problem.keys), read(dv, problem.keys)};
}

vitascope::kernels::cuda::Choice backward_choice(const GoldenCase& golden, Element element,
                                                 const Layout& layout) {
  const DeviceInputs inputs(golden, element, layout.misalignment, layout.lengths_as_mask);
  BackwardProblem problem;
  inputs.describe(problem);
  return supports(problem, {layout.shared_bytes});
}

std::vector<float> run_map(const GoldenCase& golden, Element element, std::int64_t row_count,
                           bool head_mean, const Layout& layout) {
  const DeviceInputs inputs(golden, element, layout.misalignment, layout.lengths_as_mask);
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

std::vector<float> run_map_gradient(const GoldenCase& golden, Element element,
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

}  // namespace simt
