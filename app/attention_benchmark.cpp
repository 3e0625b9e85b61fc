#include "app/attention_benchmark.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <chrono>
#include <cmath>
#include <functional>

#include "kernels/attention.h"
#include "kernels/attention_arguments.h"

namespace vitascope::app {
namespace {

struct Candidate {
  AttentionTimes times;
  std::function<void()> run;
};

void add_forward(std::vector<Candidate>& candidates, const at::Tensor& packed) {
  const at::Tensor q = packed[0].contiguous();
  const at::Tensor k = packed[1].contiguous();
  const at::Tensor v = packed[2].contiguous();
  candidates.push_back({{"fused", false, {}}, [packed] {
                          kernels::attention(packed[0], packed[1], packed[2],
                                             {.backend = kernels::Backend::fused});
                        }});
  candidates.push_back({{"sdpa flash", false, {}},
                        [q, k, v] { at::_scaled_dot_product_flash_attention_for_cpu(q, k, v); }});
  candidates.push_back(
      {{"sdpa math", false, {}}, [q, k, v] { at::_scaled_dot_product_attention_math(q, k, v); }});
}

void add_backward(std::vector<Candidate>& candidates, const at::Tensor& packed) {
  const at::Tensor q = packed[0].contiguous();
  const at::Tensor k = packed[1].contiguous();
  const at::Tensor v = packed[2].contiguous();
  const auto attended = kernels::attention(packed[0], packed[1], packed[2]);
  const at::Tensor dout = at::randn_like(attended.out);
  kernels::OperatorOptions options;
  options.scale = 1 / std::sqrt(double(q.size(3)));
  candidates.push_back({{"fused", true, {}}, [=] {
                          kernels::call_operator(
                              "vitascope::attention_backward",
                              {dout, packed[0], packed[1], packed[2], attended.out, attended.lse},
                              options);
                        }});
  const auto [out, lse] = at::_scaled_dot_product_flash_attention_for_cpu(q, k, v);
  const at::Tensor dout_of_heads = kernels::heads_of(dout, q.size(1)).contiguous();
  candidates.push_back({{"sdpa flash", true, {}}, [=, out = out, lse = lse] {
                          at::_scaled_dot_product_flash_attention_for_cpu_backward(
                              dout_of_heads, q, k, v, out, lse, 0.0, false);
                        }});
  // Its gradients come from autograd; the graph is built once and walked again and again.
  const at::Tensor inputs[] = {q.clone().requires_grad_(), k.clone().requires_grad_(),
                               v.clone().requires_grad_()};
  const at::Tensor recorded =
      std::get<0>(at::_scaled_dot_product_attention_math(inputs[0], inputs[1], inputs[2]));
  candidates.push_back({{"sdpa math", true, {}}, [=] {
                          torch::autograd::grad({recorded}, {inputs[0], inputs[1], inputs[2]},
                                                {dout_of_heads}, /*retain_graph=*/true);
                        }});
}

void run_rounds(std::vector<Candidate>& candidates, int warm_up, int repeat) {
  for (int round = -warm_up; round < repeat; ++round) {
    for (Candidate& candidate : candidates) {
      const auto start = std::chrono::steady_clock::now();
      candidate.run();
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      if (round >= 0) candidate.times.seconds.push_back(elapsed.count());
    }
  }
}

}  // namespace

std::vector<AttentionTimes> measure_attention(const AttentionSize& size, at::ScalarType precision,
                                              int warm_up, int repeat) {
  const at::Tensor packed = at::randn({size.batch, size.tokens, 3, size.heads, size.width})
                                .to(precision)
                                .permute({2, 0, 3, 1, 4});
  std::vector<Candidate> forward, backward;
  {
    const c10::InferenceMode guard;
    add_forward(forward, packed.clone(at::MemoryFormat::Preserve));
    run_rounds(forward, warm_up, repeat);
  }
  add_backward(backward, packed);
  run_rounds(backward, warm_up, repeat);
  std::vector<AttentionTimes> times;
  for (auto* candidates : {&forward, &backward}) {
    for (Candidate& candidate : *candidates) times.push_back(std::move(candidate.times));
  }
  return times;
}

}  // namespace vitascope::app
