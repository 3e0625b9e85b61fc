// What must hold whatever the numbers are.
#include <sys/mman.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

#include "kernels/cuda/attention.cuh"
#include "tests/simt/expectation.h"
#include "tests/simt/formula.h"
#include "tests/simt/global_memory.h"
#include "tests/simt/instructions.h"
#include "tests/simt/kernel_runs.h"

namespace simt {
namespace {

using vitascope::kernels::ForwardProblem;
using vitascope::kernels::cuda::launch;

constexpr vitascope::kernels::cuda::Chip kChip{99 * 1024};

// Keys come in no order: their permutation moves nothing but rounding.
TEST(SimtProperty, PermutedKeysGiveTheSame) {
  GoldenCase golden = formula_case({50, 197, 64});
  std::vector<std::size_t> order(197);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(3));
  for (const char* name : {"k", "v", "dk", "dv"}) {
    auto& values = golden.tensors.at(name).values;
    const auto before = values;
    for (std::size_t j = 0; j < order.size(); ++j) {
      std::copy_n(before.begin() + order[j] * 64, 64, values.begin() + j * 64);
    }
  }
  for (const Element element : {Element::f32, Element::bf16, Element::f16}) {
    expect_near(run_forward(golden, element).out, golden.tensors.at("out").values,
                golden.limit("out", element), "out");
    const Gradients gradients = run_backward(golden, element);
    expect_near(gradients.dk, golden.tensors.at("dk").values, golden.limit("dk", element), "dk");
    expect_near(gradients.dv, golden.tensors.at("dv").values, golden.limit("dv", element), "dv");
  }
}

// A bias that is the same for all keys of a query moves lse by itself, and nothing else.
TEST(SimtProperty, ShiftedScoresMoveOnlyLse) {
  GoldenCase golden = formula_case({50, 97, 32});
  Tensor bias{{1, 1, 50, 97}, std::vector<float>(50 * 97)};
  for (std::size_t i = 0; i < bias.values.size(); ++i) {
    bias.values[i] = static_cast<float>(i / 97) - 20;
  }
  golden.tensors.emplace("bias", bias);
  auto& lse = golden.tensors.at("lse").values;
  for (std::size_t i = 0; i < lse.size(); ++i) lse[i] += static_cast<float>(i) - 20;
  for (const Element element : {Element::f32, Element::bf16, Element::f16}) {
    const ForwardResult result = run_forward(golden, element);
    expect_near(result.out, golden.tensors.at("out").values, golden.limit("out", element), "out");
    expect_near(result.lse, lse, 1e-5 * 30, "lse");
  }
}

TEST(SimtProperty, RowsOfTheMapSumToOne) {
  const GoldenCase golden = formula_case({70, 197, 64});
  const auto map = run_map(golden, Element::bf16, 70, false);
  for (std::size_t row = 0; row < 70; ++row) {
    const auto begin = map.begin() + row * 197;
    EXPECT_NEAR(std::accumulate(begin, begin + 197, 0.0), 1, 1e-5) << row;
  }
}

// A grid's second dimension would end at 65535. One token sees itself, so that out is v.
TEST(SimtLimits, MoreHeadsThanAGridHasRows) {
  const DeviceArray row(std::vector<float>(16, 1.5f), Element::bf16);
  constexpr std::int64_t kBatch = 257, kHeads = 256;
  const DeviceArray out(kBatch * kHeads * 16, Element::bf16), lse(kBatch * kHeads, Element::f32);
  ForwardProblem problem;
  problem.batch = kBatch;
  problem.heads = kHeads;
  problem.queries = problem.keys = 1;
  problem.width = 16;
  problem.element = Element::bf16;
  problem.q = problem.k = problem.v = row.data();  // strides of 0: all read the same
  problem.out = out.data();
  problem.out_strides = planes(kHeads, 1, 16);
  problem.lse = static_cast<float*>(lse.data());
  ASSERT_EQ(launch(problem, kChip, nullptr), nullptr);
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 1.5f) << i;
  for (std::size_t i = 0; i < lse.size(); ++i) ASSERT_EQ(lse[i], 16 * 1.5f * 1.5f) << i;
}

/// Address space of which hardly anything is memory: rows far apart without gigabytes.
class Expanse {
 public:
  explicit Expanse(std::size_t bytes)
      : bytes_(bytes),
        begin_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (begin_ == MAP_FAILED) throw std::runtime_error("no address space");
    registration_.emplace(begin_, bytes);
  }
  Expanse(const Expanse&) = delete;
  Expanse& operator=(const Expanse&) = delete;
  ~Expanse() {
    registration_.reset();
    munmap(begin_, bytes_);
  }
  std::uint16_t* elements() const { return static_cast<std::uint16_t*>(begin_); }

 private:
  std::size_t bytes_;
  void* begin_;
  std::optional<Touchable> registration_;
};

TEST(SimtLimits, OffsetsBeyond32Bits) {
  // Two batch entries and two rows, each more than 2^31 elements from the other.
  constexpr std::int64_t kRow = (std::int64_t{1} << 31) + 8, kBatch = 2 * kRow;
  const GoldenCase golden = formula_case({2, 2, 16});
  const Expanse far_q((kBatch + kRow + 16) * 2), far_out((kBatch + kRow + 16) * 2);
  const auto row_at = [&](std::int64_t row) { return row / 2 * kBatch + row % 2 * kRow; };
  const auto& q = golden.tensors.at("q").values;
  for (std::int64_t row = 0; row < 4; ++row) {
    std::transform(q.begin() + row % 2 * 16, q.begin() + row % 2 * 16 + 16,
                   far_q.elements() + row_at(row), to_bf16);
  }
  ForwardProblem problem;
  problem.q = far_q.elements();
  problem.q_strides = {kBatch, 0, kRow};
  const DeviceArray k(golden.tensors.at("k").values, Element::bf16);
  const DeviceArray v(golden.tensors.at("v").values, Element::bf16);
  const DeviceArray lse(4, Element::f32);
  problem.k = k.data();
  problem.v = v.data();
  problem.k_strides = problem.v_strides = {0, 0, 16};
  problem.batch = 2;
  problem.heads = 1;
  problem.queries = problem.keys = 2;
  problem.width = 16;
  problem.scale = 0.25f;
  problem.element = Element::bf16;
  problem.out = far_out.elements();
  problem.out_strides = {kBatch, 0, kRow};
  problem.lse = static_cast<float*>(lse.data());
  ASSERT_EQ(launch(problem, kChip, nullptr), nullptr);
  std::vector<float> out;
  for (std::int64_t row = 0; row < 4; ++row) {
    for (int d = 0; d < 16; ++d) out.push_back(from_bf16(far_out.elements()[row_at(row) + d]));
  }
  auto expected = golden.tensors.at("out").values;
  expected.insert(expected.end(), expected.begin(), expected.begin() + 32);
  expect_near(out, expected, golden.limit("out", Element::bf16), "out");
}

}  // namespace
}  // namespace simt
