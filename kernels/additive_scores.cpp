#include "kernels/additive_scores.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <c10/util/Exception.h>

#include "kernels/cpu/decoding.h"

namespace vitascope::kernels {
namespace {

bool is_plain(const at::Tensor& x) {
  return x.is_cpu() && x.scalar_type() == at::kFloat &&
         !(at::GradMode::is_enabled() && x.requires_grad());
}

at::Tensor fused_scores(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& v) {
  const at::Tensor q = queries.contiguous(), k = keys.contiguous(), weights = v.contiguous();
  at::Tensor scores = at::empty({q.size(0), q.size(1), k.size(1)}, q.options());
  cpu::additive_scores({.batch = q.size(0),
                        .queries = q.size(1),
                        .keys = k.size(1),
                        .width = q.size(2),
                        .q = q.const_data_ptr<float>(),
                        .k = k.const_data_ptr<float>(),
                        .v = weights.const_data_ptr<float>(),
                        .scores = scores.mutable_data_ptr<float>()},
                       cpu::chosen_isa());
  return scores;
}

}  // namespace

at::Tensor additive_scores(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& v) {
  TORCH_CHECK(queries.dim() == 3 && keys.dim() == 3 && v.dim() == 1 &&
                  queries.size(0) == keys.size(0) && queries.size(2) == v.size(0) &&
                  keys.size(2) == v.size(0),
              "additive_scores: queries ", queries.sizes(), ", keys ", keys.sizes(), " and v ",
              v.sizes(), ": expected [B, Q, A], [B, L, A] and [A]");
  if (is_plain(queries) && is_plain(keys) && is_plain(v)) return fused_scores(queries, keys, v);
  const at::Tensor sums = queries.unsqueeze(2) + keys.unsqueeze(1);  // [B, Q, L, A]
  return at::matmul(sums.tanh_(), v);
}

}  // namespace vitascope::kernels
