#include "vit/model/attention.h"

namespace vitascope::model {

at::Tensor Attention::forward(const at::Tensor& x, const Config& config, kernels::Backend backend,
                              Trace* trace, const kernels::Epilogue& epilogue) const {
  const std::int64_t batch = x.size(0);
  const std::int64_t tokens = x.size(1);
  // [B, N, 3 C] -> [3, B, H, N, D], a view: the kernels read the packed projection in place.
  const at::Tensor packed = kernels::linear(x, qkv)
                                .view({batch, tokens, 3, config.heads, config.head_width()})
                                .permute({2, 0, 3, 1, 4});
  const at::Tensor q = q_norm(packed[0]);
  const at::Tensor k = k_norm(packed[1]);
  const kernels::Attended attended = kernels::attention(q, k, packed[2], {.backend = backend});
  if (trace != nullptr && trace->want_queries_and_keys) {
    trace->queries.push_back(q);
    trace->keys.push_back(k);
    trace->lse.push_back(attended.lse);
  }
  return kernels::linear(attended.out, proj, epilogue);
}

}  // namespace vitascope::model
