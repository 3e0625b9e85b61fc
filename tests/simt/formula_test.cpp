#include "tests/simt/formula.h"

#include <numeric>

#include "tests/simt/expectation.h"
#include "tests/simt/kernel_runs.h"

namespace simt {
namespace {

/// Forward, backward and map of a case in one type.
void expect_all(const GoldenCase& golden, Element element) {
  SCOPED_TRACE(type_name(element));
  const ForwardResult forward = run_forward(golden, element);
  expect_near(forward.out, golden.tensors.at("out").values, golden.limit("out", element), "out");
  expect_near(forward.lse, golden.tensors.at("lse").values, golden.limit("lse", element), "lse");
  const Gradients gradients = run_backward(golden, element);
  const auto compare = [&](const std::vector<float>& got, const char* name) {
    expect_near(got, golden.tensors.at(name).values, golden.limit(name, element), name);
  };
  compare(gradients.dq, "dq");
  compare(gradients.dk, "dk");
  compare(gradients.dv, "dv");
  compare(run_map(golden, element, 1, false), "cls_probs");
}

/// Tokens of vision transformers: 224 to 518 pixels in patches of 14 or 16, with a class token or
/// without; and widths of heads.
class SimtSizes : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(SimtSizes, KeepTheLimits) {
  const auto [tokens, width] = GetParam();
  const GoldenCase golden = formula_case({tokens, tokens, width});
  for (const Element element : {Element::f32, Element::bf16, Element::f16}) {
    expect_all(golden, element);
  }
}

INSTANTIATE_TEST_SUITE_P(Formula, SimtSizes,
                         testing::Combine(testing::Values(257, 288, 289, 577, 1025, 1370),
                                          testing::Values(64, 72, 80, 96, 128)),
                         [](const auto& info) {
                           return "n" + std::to_string(std::get<0>(info.param)) + "_d" +
                                  std::to_string(std::get<1>(info.param));
                         });

// Lengths around the sizes of tiles, and widths between those of tiles.
TEST(SimtOddSizes, KeepTheLimits) {
  for (const int tokens : {1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129}) {
    for (const int width : {8, 24, 40, 104, 120}) {
      SCOPED_TRACE(std::to_string(tokens) + " x " + std::to_string(width));
      const GoldenCase golden = formula_case({tokens, 80, width});
      expect_all(golden, Element::bf16);
      expect_all(golden, Element::f16);
    }
  }
}

// Widths that tensor cores do not take.
TEST(SimtOddWidths, KeepTheLimits) {
  for (const int width : {1, 3, 15, 65, 127}) {
    SCOPED_TRACE(width);
    const GoldenCase golden = formula_case({33, 50, width});
    for (const Element element : {Element::f32, Element::bf16, Element::f16}) {
      expect_all(golden, element);
    }
  }
}

// Which probabilities are kept is part of what a kernel is told, not of its order of work.
TEST(SimtDropout, KeepsTheLimits) {
  for (const float probability : {0.1f, 0.5f, 0.9f}) {
    SCOPED_TRACE(probability);
    const GoldenCase golden = formula_case({70, 130, 64, probability, 7});
    for (const Element element : {Element::f32, Element::bf16, Element::f16}) {
      expect_all(golden, element);
    }
  }
}

// A key of NaN and infinity reaches those who see it, and none of the others of the same tile.
TEST(SimtPoison, ReachesOnlyWhoSeesIt) {
  constexpr std::int64_t kQueries = 40, kKeys = 32, kWidth = 64, kBlind = 10;
  GoldenCase golden = formula_case({kQueries, kKeys, kWidth});
  golden.info["Nk"] = kKeys + 1;
  golden.info["dead_rows"] = nlohmann::json::array();  // there is a mask
  for (const char* name : {"k", "v"}) {
    auto& values = golden.tensors.at(name).values;
    values.resize((kKeys + 1) * kWidth, NAN);
    values.back() = INFINITY;
  }
  Tensor mask{{kQueries, kKeys + 1}, std::vector<float>(kQueries * (kKeys + 1), 1)};
  for (std::int64_t i = 0; i < kBlind; ++i) mask.values[i * (kKeys + 1) + kKeys] = 0;
  golden.tensors.emplace("attn_mask", mask);
  for (const Element element : {Element::f32, Element::bf16, Element::f16}) {
    SCOPED_TRACE(type_name(element));
    auto out = run_forward(golden, element).out;
    for (std::size_t i = kBlind * kWidth; i < out.size(); ++i) EXPECT_TRUE(std::isnan(out[i]));
    auto expected = golden.tensors.at("out").values;
    out.resize(kBlind * kWidth);
    expected.resize(kBlind * kWidth);
    expect_near(out, expected, golden.limit("out", element), "out");
  }
}

TEST(SimtNoKeys, GivesZerosAndNoGradient) {
  GoldenCase golden = formula_case({5, 1, 16});
  golden.info["Nk"] = 0;
  for (const char* name : {"k", "v"}) golden.tensors.at(name).values.clear();
  golden.tensors.at("lse").values.assign(5, -INFINITY);
  for (const Element element : {Element::f32, Element::bf16, Element::f16}) {
    const ForwardResult forward = run_forward(golden, element);
    EXPECT_EQ(forward.out, std::vector<float>(5 * 16, 0.0f)) << type_name(element);
    EXPECT_EQ(forward.lse, std::vector<float>(5, -INFINITY)) << type_name(element);
    EXPECT_EQ(run_backward(golden, element).dq, std::vector<float>(5 * 16, 0.0f));
  }
}

}  // namespace
}  // namespace simt
