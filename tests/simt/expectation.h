#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/cuda/attention.cuh"
#include "tests/simt/golden_case.h"

/// \file
/// What the tests of the kernels share.
namespace simt {

/// Dynamic shared memory of a block on sm_89 and sm_120, which have the least.
inline constexpr vitascope::kernels::cuda::Chip kSmallestChip{99 * 1024};

/// Every value is as near as `limit`; NaN is near to nothing.
inline void expect_near(const std::vector<float>& got, const std::vector<float>& expected,
                        double limit, const std::string& name) {
  ASSERT_EQ(got.size(), expected.size()) << name;
  double largest = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i]) continue;  // infinities among them
    const double error = std::abs(double{got[i]} - double{expected[i]});
    if (!(error <= largest)) largest = error, at = i;
    if (std::isnan(error)) break;
  }
  EXPECT_LE(largest, limit) << name << "[" << at << "]: " << got[at] << ", expected "
                            << expected[at];
}

/// Name of an element type in the names of tests.
inline std::string type_name(Element element) {
  return element == Element::f32 ? "float32" : element == Element::bf16 ? "bfloat16" : "float16";
}

/// A golden case in one type of element.
using CaseAndType = std::tuple<std::string, Element>;

inline auto every_case_and_type() {
  return testing::Combine(testing::ValuesIn(golden_case_names()),
                          testing::Values(Element::f32, Element::bf16, Element::f16));
}

inline std::string case_and_type_name(const testing::TestParamInfo<CaseAndType>& info) {
  return std::get<0>(info.param) + "_" + type_name(std::get<1>(info.param));
}

/// Reads [B, H, N, D] that lies as [B, N, H, D] into that order.
inline std::vector<float> from_rows_of_heads(const DeviceArray& array, std::int64_t batch,
                                             std::int64_t heads, std::int64_t tokens,
                                             std::int64_t width) {
  std::vector<float> result;
  const auto strides = rows_of_heads(heads, tokens, width);
  for (std::int64_t row = 0; row < batch * heads * tokens; ++row) {
    const std::int64_t plane = row / tokens;
    const std::int64_t begin = strides.offset(plane / heads, plane % heads, row % tokens);
    for (std::int64_t d = 0; d < width; ++d) result.push_back(array[begin + d]);
  }
  return result;
}

}  // namespace simt
