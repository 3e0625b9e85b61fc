// Lengths and widths of real models against the formula in float64, under the limits of the golden
// problems: forward, backward and maps.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "kernels/attention.h"
#include "tests/kernels/largest_difference.h"

namespace vitascope::kernels {
namespace {

using tests::largest_difference;

/// A problem whose numbers bfloat16 and float16 hold exactly, and its answers in float64.
struct Exact {
  at::Tensor q, k, v, dout;                // float32, [1, 1, N, D]
  at::Tensor p, out, lse, dq, dk, dv, dp;  // float64
  double scale;

  Exact(std::int64_t tokens, std::int64_t width) : scale(1 / std::sqrt(double(width))) {
    at::manual_seed(tokens * 1000 + width);
    const auto numbers = [&] {
      return at::randn({1, 1, tokens, width}).to(at::kBFloat16).to(at::kFloat);
    };
    q = numbers();
    k = numbers();
    v = numbers();
    dout = numbers();
    const at::Tensor Q = q.to(at::kDouble), K = k.to(at::kDouble), V = v.to(at::kDouble),
                     dO = dout.to(at::kDouble);
    const at::Tensor scores = at::matmul(Q, K.mT()) * scale;
    lse = scores.logsumexp(-1);
    p = at::exp(scores - lse.unsqueeze(-1));
    out = at::matmul(p, V);
    dp = at::matmul(dO, V.mT());
    const at::Tensor ds = p * (dp - (dO * out).sum(-1, true)) * scale;
    dq = at::matmul(ds, K);
    dk = at::matmul(ds.mT(), Q);
    dv = at::matmul(p.mT(), dO);
  }
};

/// What an ideal fused kernel of a half type gives: probabilities and their gradients rounded to
/// the type before the second product, results rounded.
struct Ideal {
  at::Tensor out, dq, dk, dv;

  Ideal(const Exact& exact, at::ScalarType type) {
    const auto rounded = [type](const at::Tensor& x) { return x.to(type).to(at::kDouble); };
    const at::Tensor q = exact.q.to(at::kDouble), k = exact.k.to(at::kDouble),
                     v = exact.v.to(at::kDouble), dout = exact.dout.to(at::kDouble);
    const at::Tensor scores = at::matmul(q, k.mT()) * exact.scale;
    const at::Tensor weights = at::exp(scores - scores.amax(-1, true));
    out = rounded(at::matmul(rounded(weights), v) / weights.sum(-1, true));
    const at::Tensor ds = rounded(exact.p * (exact.dp - (dout * out).sum(-1, true)));
    dq = rounded(at::matmul(ds, k) * exact.scale);
    dk = rounded(at::matmul(ds.mT(), q) * exact.scale);
    dv = rounded(at::matmul(rounded(exact.p).mT(), dout));
  }
};

double size_of(const at::Tensor& x) { return x.abs().max().item<double>(); }

class EverySize : public testing::TestWithParam<at::ScalarType> {};

TEST_P(EverySize, KeepsTheLimitsForwardBackwardAndInMaps) {
  const at::ScalarType type = GetParam();
  for (const std::int64_t tokens : {33, 257, 288, 289, 577, 1025, 1370}) {
    for (const std::int64_t width : {16, 32, 64, 72, 80, 96, 128}) {
      SCOPED_TRACE(testing::Message() << tokens << " tokens of width " << width);
      const Exact exact(tokens, width);
      const Ideal ideal(exact, type);
      const bool half = type != at::kFloat;
      const auto limit = [&](const at::Tensor& answer, const at::Tensor& best, bool gradient) {
        if (half) return (gradient ? 3 : 2) * largest_difference(best, answer) + 1e-5;
        return gradient ? 2e-5 * size_of(answer) + 1e-6 : 1e-5 * size_of(answer);
      };
      const at::Tensor q = exact.q.to(type).requires_grad_(), k = exact.k.to(type).requires_grad_(),
                       v = exact.v.to(type).requires_grad_();
      const Attended attended = attention(q, k, v, {.backend = Backend::fused});
      attended.out.backward(exact.dout.to(type).squeeze(1));
      EXPECT_LE(largest_difference(attended.out, exact.out.squeeze(1)),
                limit(exact.out, ideal.out, false));
      EXPECT_LE(largest_difference(attended.lse, exact.lse), 1e-5 * size_of(exact.lse));
      EXPECT_LE(largest_difference(q.grad(), exact.dq), limit(exact.dq, ideal.dq, true));
      EXPECT_LE(largest_difference(k.grad(), exact.dk), limit(exact.dk, ideal.dk, true));
      EXPECT_LE(largest_difference(v.grad(), exact.dv), limit(exact.dv, ideal.dv, true));
      const at::Tensor map = attention_map(q.detach(), k.detach(), attended.lse);
      EXPECT_LE(largest_difference(map, exact.p), 1e-5 * size_of(exact.p));
      const at::Tensor gradient = attention_map_gradient(q.detach(), k.detach(), v.detach(),
                                                         exact.dout.to(type).squeeze(1));
      EXPECT_LE(largest_difference(gradient, exact.dp), 1e-5 * size_of(exact.dp));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Attention, EverySize,
                         testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                         [](const auto& info) { return std::string(c10::toString(info.param)); });

}  // namespace
}  // namespace vitascope::kernels
