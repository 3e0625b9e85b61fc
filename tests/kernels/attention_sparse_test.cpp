// Windows, grids and causal masks, of which kernels leave out what nobody sees: every instruction
// set against the formula, at lengths of many panels.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "kernels/attention.h"
#include "kernels/cpu/isa.h"

namespace vitascope::kernels {
namespace {

struct SparseCase {
  const char* name;
  std::int64_t queries, keys;
  AttentionOptions options;
};

void PrintTo(const SparseCase& sparse, std::ostream* stream) { *stream << sparse.name; }

std::vector<SparseCase> sparse_cases() {
  AttentionOptions window, wide, causal, grid, tall, lengths, all;
  window.window = 20;
  wide.window = 301;
  causal.causal = true;
  grid.grid = GridWindow{5, 23, 19, 2, 1};
  tall.grid = GridWindow{1, 110, 4, 100, 0};
  lengths.key_lengths = at::tensor({0, 130}, at::kLong);
  all.window = 70;
  all.causal = true;
  all.grid = GridWindow{5, 23, 19, 3, 19};
  all.key_lengths = at::tensor({442, 300}, at::kLong);
  all.dropout = 0.25;
  return {{"Window", 500, 500, window},          {"WideWindow", 500, 500, wide},
          {"WindowOfFewKeys", 500, 90, window},  {"Causal", 500, 500, causal},
          {"CausalFewQueries", 60, 500, causal}, {"Grid", 442, 442, grid},
          {"TallGrid", 441, 441, tall},          {"Lengths", 200, 300, lengths},
          {"AllAtOnce", 442, 442, all}};
}

class SparseAttention : public testing::TestWithParam<std::tuple<SparseCase, cpu::Isa>> {
 protected:
  void SetUp() override {
    setenv("VITASCOPE_CPU_ISA", cpu::isa_name(std::get<cpu::Isa>(GetParam())), 1);
  }
  void TearDown() override { unsetenv("VITASCOPE_CPU_ISA"); }
};

/// Output and gradients of q, k and v of one backend.
std::vector<at::Tensor> results(at::Tensor q, at::Tensor k, at::Tensor v, const at::Tensor& dout,
                                AttentionOptions options, Backend backend) {
  options.backend = backend;
  for (at::Tensor* x : {&q, &k, &v}) *x = x->detach().requires_grad_();
  const at::Tensor out = attention(q, k, v, options).out;
  out.backward(dout.to(out.scalar_type()));
  return {out.detach(), q.grad(), k.grad(), v.grad()};
}

TEST_P(SparseAttention, IsTheFormula) {
  const SparseCase& sparse = std::get<SparseCase>(GetParam());
  at::manual_seed(21);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    const auto numbers = [type](std::int64_t n) { return at::randn({2, 2, n, 24}).to(type); };
    const at::Tensor q = numbers(sparse.queries), k = numbers(sparse.keys),
                     v = numbers(sparse.keys), dout = at::randn({2, sparse.queries, 48}).to(type);
    const auto got = results(q, k, v, dout, sparse.options, Backend::fused);
    const auto expected = results(q.to(at::kDouble), k.to(at::kDouble), v.to(at::kDouble), dout,
                                  sparse.options, Backend::math);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double largest = expected[i].abs().max().item<double>();
      const double error = (got[i].to(at::kDouble) - expected[i]).abs().max().item<double>();
      EXPECT_LE(error, (type == at::kFloat ? 2e-5 : 2e-2) * largest) << i << " " << type;
    }
  }
}

TEST_P(SparseAttention, WhatNobodySeesMayBeAnything) {
  const SparseCase& sparse = std::get<SparseCase>(GetParam());
  at::manual_seed(22);
  const at::Tensor q = at::randn({2, 2, sparse.queries, 24}),
                   k = at::randn({2, 2, sparse.keys, 24}),
                   dout = at::randn({2, sparse.queries, 48});
  AttentionOptions options = sparse.options;
  at::Tensor seen = at::ones({1, 1, sparse.queries, sparse.keys}, at::kBool);
  seen.select(3, sparse.keys / 2).fill_(false);
  options.mask = seen;
  at::Tensor spoilt = k.clone();
  spoilt.select(2, sparse.keys / 2).fill_(std::numeric_limits<float>::quiet_NaN());
  const auto clean = results(q, k, k, dout, options, Backend::fused);
  const auto got = results(q, spoilt, spoilt, dout, options, Backend::fused);
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_LE((got[i] - clean[i]).abs().max().item<double>(), 1e-5) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, SparseAttention,
                         testing::Combine(testing::ValuesIn(sparse_cases()),
                                          testing::ValuesIn(cpu::available_isas())),
                         [](const auto& info) {
                           return std::string(std::get<SparseCase>(info.param).name) + "_" +
                                  cpu::isa_name(std::get<cpu::Isa>(info.param));
                         });

}  // namespace
}  // namespace vitascope::kernels
