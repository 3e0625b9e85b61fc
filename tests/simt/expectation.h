#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/simt/golden_case.h"

/// \file
/// What the tests of the kernels share.
namespace simt {

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

}  // namespace simt
