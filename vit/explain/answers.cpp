#include "vit/explain/answers.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <utility>

#include "vit/explain/layer.h"
#include "vit/explain/record.h"
#include "vit/model/packed.h"

namespace vitascope::explain {

Scores probabilities_of(const model::VisionTransformer& network, kernels::Backend backend) {
  model::VisionTransformer quick = network;  // shares what is not packed
  model::pack_products(quick);
  return [quick = std::move(quick), backend](const at::Tensor& pixels) {
    const c10::InferenceMode inference;
    return quick.probabilities(quick.forward(pixels, {.backend = backend}).logits);
  };
}

LastAttention last_attention(const model::VisionTransformer& network, const at::Tensor& pixels,
                             kernels::Backend backend) {
  const Recorded recorded =
      record(network, pixels, {.attention = true, .hidden_states = true}, backend);
  const int last = network.config().depth - 1;
  const at::Tensor rows = recorded.readout.flatten().nonzero().flatten();
  const Layer layer(recorded, last, 0);
  std::vector<at::Tensor> heads;
  heads.reserve(static_cast<std::size_t>(layer.heads()));
  for (int head = 0; head < layer.heads(); ++head) heads.push_back(layer.probabilities(head, rows));

  const at::Tensor plain_rows = rows.cpu();
  const auto* first = plain_rows.const_data_ptr<std::int64_t>();
  const model::Intervention swap{last, {}, {first, first + plain_rows.numel()}, {}};
  // What was recorded is of inference mode; copies of it may meet gradients.
  const at::Tensor hidden = recorded.trace.hidden_states[static_cast<std::size_t>(last)].clone();
  const auto answer = [&network, backend, swap, hidden, last](const at::Tensor& weights) {
    model::Intervention theirs = swap;
    theirs.weights = weights.unsqueeze(0);
    const model::Output output = network.forward_from(
        hidden, last, {.backend = backend, .interventions = {std::move(theirs)}});
    return network.probabilities(output.logits)[0];
  };
  return {last, at::stack(heads).clone(), answer};
}

}  // namespace vitascope::explain
