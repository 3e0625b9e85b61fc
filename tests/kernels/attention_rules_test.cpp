// What other kernels have got wrong: each rule a test.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <torch/csrc/autograd/autograd.h>

#include <limits>
#include <set>
#include <string>

#include "kernels/attention.h"
#include "tests/kernels/largest_difference.h"

namespace vitascope::kernels {
namespace {

using tests::largest_difference;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

at::Tensor random_heads(std::int64_t b, std::int64_t h, std::int64_t n, std::int64_t d) {
  return at::randn({b, h, n, d});
}

at::Tensor by_formula(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                      AttentionOptions options = {}) {
  options.backend = Backend::math;
  return attention(q.to(at::kDouble), k.to(at::kDouble), v.to(at::kDouble), options).out;
}

TEST(AttentionRules, WidthsThatFillNoVectorAndOddOnesAreExact) {
  at::manual_seed(1);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const std::int64_t width : {1, 3, 7, 15, 17, 31, 65, 130}) {
      const at::Tensor q = random_heads(2, 2, 9, width).to(type),
                       k = random_heads(2, 2, 13, width).to(type),
                       v = random_heads(2, 2, 13, width).to(type);
      EXPECT_LT(largest_difference(attention(q, k, v).out, by_formula(q, k, v)),
                type == at::kFloat ? 2e-6 : 0.02)
          << width << " " << type;
    }
  }
}

TEST(AttentionRules, LengthsOneAboveAMultipleOf32AreExact) {
  at::manual_seed(2);
  for (const std::int64_t tokens : {1, 33, 65, 97, 129, 193}) {
    const at::Tensor q = random_heads(1, 2, tokens, 16), k = random_heads(1, 2, tokens, 16),
                     v = random_heads(1, 2, tokens, 16);
    EXPECT_LT(largest_difference(attention(q, k, v).out, by_formula(q, k, v)), 2e-6) << tokens;
  }
}

TEST(AttentionRules, NothingIsAnAnswerToNothing) {
  const Attended none =
      attention(at::zeros({0, 2, 3, 8}), at::zeros({0, 2, 3, 8}), at::zeros({0, 2, 3, 8}));
  EXPECT_EQ(none.out.sizes(), (std::vector<std::int64_t>{0, 3, 16}));
  const Attended no_queries =
      attention(at::zeros({1, 2, 0, 8}), at::zeros({1, 2, 3, 8}), at::zeros({1, 2, 3, 8}));
  EXPECT_EQ(no_queries.out.sizes(), (std::vector<std::int64_t>{1, 0, 16}));
  const at::Tensor q = at::ones({1, 2, 3, 8}).requires_grad_();
  const Attended no_keys = attention(q, at::zeros({1, 2, 0, 8}), at::zeros({1, 2, 0, 8}));
  EXPECT_TRUE(no_keys.out.eq(0).all().item<bool>());
  EXPECT_TRUE(no_keys.lse.eq(-kInfinity).all().item<bool>());
  no_keys.out.sum().backward();
  EXPECT_TRUE(q.grad().eq(0).all().item<bool>());
}

TEST(AttentionRules, MoreHeadsThanAGridOfBlocksHolds) {
  at::manual_seed(3);
  const at::Tensor q = random_heads(70000, 1, 2, 8), k = random_heads(70000, 1, 3, 8),
                   v = random_heads(70000, 1, 3, 8);
  EXPECT_LT(largest_difference(attention(q, k, v).out, by_formula(q, k, v)), 2e-6);
}

TEST(AttentionRules, OffsetsTakeMoreThan32Bits) {
  // Two rows 2^31 + 8 elements apart, in an address range of which only the touched pages exist.
  constexpr std::int64_t kApart = (std::int64_t(1) << 31) + 8;
  const std::size_t bytes = static_cast<std::size_t>(kApart + 64) * sizeof(float);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  {
    at::manual_seed(4);
    const at::Tensor far = at::from_blob(
        memory, {1, 1, 2, 8}, {0, 0, kApart, 1}, [](void*) {}, at::kFloat);
    far.copy_(random_heads(1, 1, 2, 8));
    EXPECT_LT(largest_difference(attention(far, far, far).out, by_formula(far, far, far)), 2e-6);
    const at::Tensor pictures = at::from_blob(
        memory, {2, 1, 1, 8}, {kApart, 0, 0, 1}, [](void*) {}, at::kFloat);
    EXPECT_LT(largest_difference(attention(pictures, pictures, pictures).out, pictures.squeeze(1)),
              1e-6);
  }
  munmap(memory, bytes);
}

TEST(AttentionRules, KeysOfTheFutureLeakNothingWhateverTheyHold) {
  at::manual_seed(5);
  const at::Tensor q = random_heads(1, 1, 20, 16).requires_grad_();
  at::Tensor k = random_heads(1, 1, 20, 16), v = random_heads(1, 1, 20, 16);
  AttentionOptions causal;
  causal.causal = true;
  const at::Tensor clean = attention(q, k, v, causal).out.slice(1, 0, 12);
  k.select(2, 12).fill_(kNaN);
  v.select(2, 12).fill_(kInfinity);
  const at::Tensor out = attention(q, k, v, causal).out;
  EXPECT_LT(largest_difference(out.slice(1, 0, 12), clean), 2e-6);
  EXPECT_TRUE(out.slice(1, 12).isnan().any().item<bool>()) << "who sees NaN gets NaN";
  out.slice(1, 0, 12).sum().backward();
  EXPECT_TRUE(q.grad().slice(2, 0, 12).isfinite().all().item<bool>());
}

TEST(AttentionRules, AWindowAsWideAsItsTypeHidesNothing) {
  at::manual_seed(13);
  const at::Tensor q = random_heads(1, 1, 20, 16);
  AttentionOptions options;
  options.window = std::numeric_limits<std::int64_t>::max();
  EXPECT_LT(largest_difference(attention(q, q, q, options).out, attention(q, q, q).out), 1e-6);
}

TEST(AttentionRules, WithoutQueriesKeysGetNoGradient) {
  const at::Tensor k = at::ones({1, 2, 3, 8}).requires_grad_();
  attention(at::zeros({1, 2, 0, 8}), k, k).out.sum().backward();
  EXPECT_TRUE(k.grad().eq(0).all().item<bool>());
}

TEST(AttentionRules, ScoresOfAHundredThousandInHalfPrecision) {
  const at::Tensor q = at::full({1, 1, 4, 64}, 200.0).to(at::kHalf);
  at::Tensor k = at::full({1, 1, 5, 64}, 200.0).to(at::kHalf);
  k[0][0][3][0] = 201.0;  // its score is 200 above the others'
  const at::Tensor v = at::arange(5).view({1, 1, 5, 1}).expand({1, 1, 5, 64}).to(at::kHalf);
  AttentionOptions unscaled;
  unscaled.scale = 1.0;
  EXPECT_TRUE(attention(q, k, v, unscaled).out.eq(3).all().item<bool>());
}

TEST(AttentionRules, GradientsMayComeInAnyLayout) {
  at::manual_seed(6);
  at::Tensor results[3];
  for (int layout = 0; layout < 3; ++layout) {
    at::manual_seed(7);
    const at::Tensor q = random_heads(2, 3, 11, 8).requires_grad_();
    const at::Tensor out = attention(q, random_heads(2, 3, 11, 8), random_heads(2, 3, 11, 8)).out;
    const at::Tensor ones = at::ones({2, 11, 24});
    out.backward(layout == 0   ? ones
                 : layout == 1 ? at::ones({1}).expand({2, 11, 24})
                               : ones.permute({2, 1, 0}).contiguous().permute({2, 1, 0}));
    results[layout] = q.grad();
  }
  EXPECT_TRUE(results[0].equal(results[1]));
  EXPECT_TRUE(results[0].equal(results[2]));
}

TEST(AttentionRules, OperandsOfAnyStrideAreReadOrCopied) {
  at::manual_seed(8);
  const at::Tensor q = random_heads(1, 2, 16, 12).transpose(2, 3);  // the last dimension is strided
  EXPECT_LT(largest_difference(attention(q, q, q).out, by_formula(q, q, q)), 2e-6);
}

TEST(AttentionRules, RunsAreBitEqualWhateverTheThreads) {
  at::manual_seed(9);
  const at::Tensor q = random_heads(1, 3, 300, 64).requires_grad_();
  const at::Tensor k = random_heads(1, 3, 300, 64), v = random_heads(1, 3, 300, 64);
  const int threads = at::get_num_threads();
  at::Tensor first, first_gradient;
  for (const int count : {1, 1, 2, 3}) {
    at::set_num_threads(count);
    const at::Tensor out = attention(q, k, v).out;
    q.mutable_grad() = at::Tensor();
    out.sum().backward();
    if (!first.defined()) {
      first = out;
      first_gradient = q.grad();
    }
    EXPECT_TRUE(out.equal(first) && q.grad().equal(first_gradient)) << count << " threads";
  }
  at::set_num_threads(threads);
}

TEST(AttentionRules, GradientsOfGradientsAreRefusedInWords) {
  const at::Tensor q = at::randn({1, 1, 3, 8}).requires_grad_();
  const at::Tensor out = attention(q, q, q).out;
  const auto gradients = torch::autograd::grad({out.pow(2).sum()}, {q}, {}, /*retain_graph=*/true,
                                               /*create_graph=*/true);
  try {
    gradients[0].sum().backward();
    FAIL() << "expected a refusal";
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("gradients of gradients"), std::string::npos);
  }
}

TEST(AttentionRules, DropoutFollowsItsSeedInForwardAndBackward) {
  at::manual_seed(10);
  AttentionOptions options;
  options.dropout = 0.3;
  options.seed = 77;
  at::Tensor outs[2], gradients[2];
  const at::Tensor inputs[3] = {random_heads(2, 2, 40, 16), random_heads(2, 2, 40, 16),
                                random_heads(2, 2, 40, 16)};
  for (const Backend backend : {Backend::fused, Backend::math}) {
    options.backend = backend;
    const at::Tensor q = inputs[0].clone().requires_grad_();
    const int i = backend == Backend::math;
    outs[i] = attention(q, inputs[1], inputs[2], options).out;
    outs[i].pow(2).sum().backward();
    gradients[i] = q.grad();
  }
  EXPECT_LT(largest_difference(outs[0], outs[1]), 5e-6);
  EXPECT_LT(largest_difference(gradients[0], gradients[1]), 5e-5);
  // Against weights of 1 / 40, the share of dropped ones shows in a sum over values of 1.
  options.backend = Backend::fused;
  const at::Tensor flat = at::zeros({2, 2, 40, 16});
  const at::Tensor kept = attention(flat, flat, at::ones({2, 2, 40, 16}), options).out;
  EXPECT_NEAR(kept.mean().item<double>(), 1, 0.05);
  options.seed = 78;
  EXPECT_FALSE(attention(flat, flat, at::ones({2, 2, 40, 16}), options).out.equal(kept));
}

TEST(AttentionRules, TheOrderOfKeysAndAShiftOfScoresDoNotMatter) {
  at::manual_seed(11);
  const at::Tensor q = random_heads(1, 2, 30, 32), k = random_heads(1, 2, 50, 32),
                   v = random_heads(1, 2, 50, 32);
  const at::Tensor out = attention(q, k, v).out;
  const at::Tensor order = at::randperm(50);
  EXPECT_LT(
      largest_difference(attention(q, k.index_select(2, order), v.index_select(2, order)).out, out),
      2e-6);
  AttentionOptions shifted;
  shifted.bias = at::full({1, 1, 1, 1}, 12.5);
  EXPECT_LT(largest_difference(attention(q, k, v, shifted).out, out), 5e-6);
}

TEST(AttentionRules, TheFusedKernelsCallNoProductOfLibTorch) {
  static std::set<std::string> called;
  called.clear();
  const at::Tensor q = random_heads(1, 2, 197, 64);
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback([](const at::RecordFunction& function)
                                     -> std::unique_ptr<at::ObserverContext> {
        called.insert(function.name());
        return nullptr;
      }).scopes({at::RecordScope::FUNCTION}));
  attention(q, q, q, {.backend = Backend::fused});
  const std::set<std::string> fused = called;
  attention(q, q, q, {.backend = Backend::math});
  at::removeCallback(handle);
  EXPECT_TRUE(fused.contains("vitascope::attention"));
  EXPECT_TRUE(called.contains("aten::bmm")) << "the counter counts";
  for (const std::string& name : fused) {
    for (const char* product : {"mm", "linear", "dot", "einsum", "addmv", "mkldnn"}) {
      EXPECT_EQ(name.find(product), std::string::npos) << name;
    }
  }
}

TEST(AttentionRules, ReplacedWeightsAreDifferentiable) {
  at::manual_seed(12);
  const at::Tensor weights = at::rand({1, 2, 3, 5}).requires_grad_();
  const at::Tensor v = random_heads(1, 2, 5, 4).requires_grad_();
  const at::Tensor out = attention_with_weights(weights, v);
  ASSERT_EQ(out.sizes(), (std::vector<std::int64_t>{1, 3, 8}));
  const at::Tensor expected = at::matmul(weights, v).transpose(1, 2).reshape({1, 3, 8});
  EXPECT_LT(largest_difference(out, expected), 1e-6);
  out.sum().backward();
  EXPECT_LT(
      largest_difference(weights.grad(), v.detach().sum(-1).unsqueeze(2).expand({1, 2, 3, 5})),
      1e-6);
  EXPECT_TRUE(v.grad().defined());
  EXPECT_THROW(attention_with_weights(weights, random_heads(1, 2, 4, 4)), c10::Error);
}

TEST(AttentionRules, MasksAndGridsThatDoNotFitAreRefused) {
  const at::Tensor q = random_heads(2, 2, 5, 8);
  AttentionOptions options;
  options.mask = at::ones({2, 5}, at::kBool);
  EXPECT_THROW(attention(q, q, q, options), c10::Error);
  options = {};
  options.key_lengths = at::ones({3}, at::kLong);
  EXPECT_THROW(attention(q, q, q, options), c10::Error);
  options = {};
  options.grid = GridWindow{1, 2, 3, 1, 1};  // 7 tokens
  EXPECT_THROW(attention(q, q, q, options), c10::Error);
  options = {};
  options.dropout = 1;
  EXPECT_THROW(attention(q, q, q, options), c10::Error);
  EXPECT_THROW(attention_map(q, q, {}, {}, {.rows = at::full({1}, 5, at::kLong)}), c10::Error);
}

TEST(AttentionRules, ShapesAreKnownWithoutNumbers) {
  const at::Tensor q =
      at::empty({2, 3, 197, 64}, at::TensorOptions(at::kMeta).dtype(at::kBFloat16));
  const Attended attended = attention(q, q, q);
  EXPECT_TRUE(attended.out.is_meta());
  EXPECT_EQ(attended.out.sizes(), (std::vector<std::int64_t>{2, 197, 192}));
  EXPECT_EQ(attended.lse.scalar_type(), at::kFloat);
}

}  // namespace
}  // namespace vitascope::kernels
