#include "vit/explain/record.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <stdexcept>

namespace vitascope::explain {
namespace {

at::Tensor readout(const model::Config& config, std::int64_t tokens, const at::Device& device) {
  at::Tensor weights = at::zeros({1, tokens}, at::TensorOptions(at::kFloat).device(device));
  std::int64_t begin = 0, count = 1;
  if (config.pooling == model::Pooling::first_two) count = 2;
  if (config.pooling == model::Pooling::mean_patches) {
    begin = config.prefix_tokens();
    count = tokens - begin;
  }
  weights.narrow(1, begin, count).fill_(1.0 / static_cast<double>(count));
  return weights;
}

/// The sum over pictures of the logit of each one's class; each picture's part depends on nothing
/// but itself.
at::Tensor chosen_logits(const at::Tensor& logits, const std::vector<std::int64_t>& classes) {
  const at::Tensor index = at::tensor(classes, at::kLong).unsqueeze(1).to(logits.device());
  return logits.gather(1, index).sum();
}

/// The class's logit as it would be if the network ended with a layer: the mean over its tokens
/// through the final norm and the head.
at::Tensor layer_logits(const model::VisionTransformer& network, const at::Tensor& hidden) {
  const model::Config& config = network.config();
  // Pooling then picks the mean, whichever tokens it reads.
  const at::Tensor mean =
      hidden.mean(1, /*keepdim=*/true).expand({-1, config.prefix_tokens() + 1, -1});
  return network.forward_from(mean, config.depth).logits;
}

}  // namespace

Wanted Wanted::operator|(const Wanted& other) const {
  return {attention || other.attention, attention_gradients || other.attention_gradients,
          layer_gradients || other.layer_gradients, norm1_gradient || other.norm1_gradient,
          hidden_states || other.hidden_states};
}

Recorded record(const model::VisionTransformer& network, const at::Tensor& pixels,
                const Wanted& wanted, kernels::Backend backend) {
  const c10::InferenceMode inference(!wanted.gradients());
  const model::Config& config = network.config();
  Recorded recorded;
  recorded.wanted = wanted;
  recorded.grid = model::patch_grid(config, pixels.size(2), pixels.size(3));
  recorded.prefix = config.prefix_tokens();
  recorded.class_token = config.class_token;
  recorded.readout = readout(config, recorded.prefix + recorded.grid.count(), pixels.device());
  model::Trace& trace = recorded.trace;
  const bool outputs = wanted.attention_gradients || wanted.layer_gradients;
  trace.want_queries_and_keys = wanted.attention || outputs;
  trace.want_values = trace.want_attention_outputs = outputs;
  trace.want_hidden_states = wanted.hidden_states || wanted.layer_gradients;
  trace.want_last_norm1 = wanted.norm1_gradient;
  recorded.output = network.forward(pixels, {.backend = backend, .trace = &trace});
  return recorded;
}

void take_gradients(const model::VisionTransformer& network, Recorded& recorded,
                    const std::vector<std::int64_t>& classes) {
  const at::Tensor& logits = recorded.output.logits;
  if (!logits.defined()) throw std::invalid_argument("the model has no head, so no classes");
  if (classes.size() != static_cast<std::size_t>(logits.size(0))) {
    throw std::invalid_argument(
        fmt::format("{} classes for {} pictures", classes.size(), logits.size(0)));
  }
  for (const std::int64_t index : classes) {
    if (index < 0 || index >= logits.size(1)) {
      throw std::invalid_argument(
          fmt::format("there is no class {}: expected 0 to {}", index, logits.size(1) - 1));
    }
  }
  const c10::InferenceMode off(false);
  const auto gradients = [&](const at::Tensor& of, const std::vector<at::Tensor>& nodes) {
    return torch::autograd::grad({chosen_logits(of, classes)}, nodes, {}, /*retain_graph=*/true);
  };
  const Wanted& wanted = recorded.wanted;
  const model::Trace& trace = recorded.trace;
  recorded.classes = classes;
  std::vector<at::Tensor> nodes;
  if (wanted.attention_gradients) nodes = trace.attention_outputs;
  if (wanted.norm1_gradient) nodes.push_back(trace.last_norm1);
  if (!nodes.empty()) {
    std::vector<at::Tensor> taken = gradients(logits, nodes);
    if (wanted.norm1_gradient) {
      recorded.norm1_gradient = taken.back();
      taken.pop_back();
    }
    recorded.output_gradients = std::move(taken);
  }
  recorded.layer_gradients.clear();
  for (std::size_t i = 0; wanted.layer_gradients && i < trace.attention_outputs.size(); ++i) {
    const at::Tensor own = layer_logits(network, trace.hidden_states[i + 1]);
    recorded.layer_gradients.push_back(gradients(own, {trace.attention_outputs[i]})[0]);
  }
}

}  // namespace vitascope::explain
