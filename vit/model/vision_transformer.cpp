#include "vit/model/vision_transformer.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <chrono>

#include "vit/model/recompute.h"

namespace vitascope::model {
namespace {

using Parameters = std::vector<std::pair<std::string, at::Tensor*>>;

void add(Parameters& all, const std::string& name, kernels::Weight& weight) {
  all.emplace_back(name + ".weight", &weight.weight);
  all.emplace_back(name + ".bias", &weight.bias);
}

void add(Parameters& all, const std::string& name, LayerNorm& norm) {
  all.emplace_back(name + ".weight", &norm.weight);
  all.emplace_back(name + ".bias", &norm.bias);
}

/// Every slot that any family could have, in timm's order.
Parameters every_slot(PatchEmbedding& embed, LayerNorm& norm_pre, std::vector<Block>& blocks,
                      LayerNorm& norm, Head& head) {
  Parameters all{{"cls_token", &embed.cls_token},
                 {"pos_embed", &embed.pos_embed},
                 {"reg_token", &embed.reg_token},
                 {"dist_token", &embed.dist_token},
                 {"patch_embed.proj.weight", &embed.weight},
                 {"patch_embed.proj.bias", &embed.bias}};
  for (std::size_t i = 0; i < embed.stem.size(); ++i) {
    add(all, fmt::format("patch_embed.stem.{}", i), embed.stem[i]);
  }
  add(all, "norm_pre", norm_pre);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::string prefix = fmt::format("blocks.{}.", i);
    Block& block = blocks[i];
    add(all, prefix + "norm1", block.norm1);
    add(all, prefix + "attn.qkv", block.attn.qkv);
    add(all, prefix + "attn.q_norm", block.attn.q_norm);
    add(all, prefix + "attn.k_norm", block.attn.k_norm);
    add(all, prefix + "attn.proj", block.attn.proj);
    all.emplace_back(prefix + "ls1.gamma", &block.ls1);
    add(all, prefix + "norm2", block.norm2);
    add(all, prefix + "mlp.fc1", block.mlp.fc1);
    add(all, prefix + "mlp.fc2", block.mlp.fc2);
    all.emplace_back(prefix + "ls2.gamma", &block.ls2);
  }
  add(all, "norm", norm);
  add(all, "fc_norm", head.fc_norm);
  add(all, "head", head.head);
  add(all, "head_dist", head.head_dist);
  all.emplace_back("head.features", &head.neighbours.features);
  return all;
}

class Stopwatch {
 public:
  explicit Stopwatch(double* sum) : sum_(sum), start_(std::chrono::steady_clock::now()) {}
  ~Stopwatch() {
    if (sum_ == nullptr) return;
    *sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double* sum_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace

VisionTransformer::VisionTransformer(Config config)
    : config_(std::move(config)), blocks_(static_cast<std::size_t>(config_.depth)) {
  validate(config_);
  patch_embed_.stem.resize(config_.stem.size());
  if (config_.neighbours) head_.neighbours.vote = *config_.neighbours;
  norm_pre_.epsilon = norm_.epsilon = head_.fc_norm.epsilon = config_.norm_epsilon;
  for (Block& block : blocks_) {
    for (LayerNorm* norm : {&block.norm1, &block.norm2, &block.attn.q_norm, &block.attn.k_norm}) {
      norm->epsilon = config_.norm_epsilon;
    }
  }
}

std::vector<std::pair<std::string, at::Tensor*>> VisionTransformer::parameters() {
  if (blocks_.empty()) return {};  // made without a configuration
  std::map<std::string, at::Tensor*> slots;
  for (auto& [name, slot] : every_slot(patch_embed_, norm_pre_, blocks_, norm_, head_)) {
    slots.emplace(name, slot);
  }
  Parameters wanted;
  for (const ParameterShape& parameter : parameter_shapes(config_)) {
    wanted.emplace_back(parameter.name, slots.at(parameter.name));
  }
  return wanted;
}

std::vector<std::pair<std::string, kernels::Weight*>> VisionTransformer::products() {
  std::vector<std::pair<std::string, kernels::Weight*>> all;
  all.reserve(4 * blocks_.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::string prefix = fmt::format("blocks.{}.", i);
    Block& block = blocks_[i];
    all.emplace_back(prefix + "attn.qkv", &block.attn.qkv);
    all.emplace_back(prefix + "attn.proj", &block.attn.proj);
    all.emplace_back(prefix + "mlp.fc1", &block.mlp.fc1);
    all.emplace_back(prefix + "mlp.fc2", &block.mlp.fc2);
  }
  return all;
}

Output VisionTransformer::forward(const at::Tensor& pixels, const ForwardOptions& options) const {
  at::Tensor hidden;
  {
    const Stopwatch watch(options.times != nullptr ? &options.times->embed : nullptr);
    hidden = norm_pre_(patch_embed_.forward(pixels, config_));
  }
  return forward_from(hidden, 0, options);
}

Output VisionTransformer::forward_from(const at::Tensor& hidden, int first_block,
                                       const ForwardOptions& options) const {
  const auto record = [&](const at::Tensor& state) {
    if (options.trace != nullptr && options.trace->want_hidden_states) {
      options.trace->hidden_states.push_back(state);
    }
  };
  const bool recompute = options.training.recompute && at::GradMode::is_enabled();
  at::Tensor x = hidden;
  record(x);
  for (int layer = first_block; layer < config_.depth; ++layer) {
    const Block& block = blocks_[static_cast<std::size_t>(layer)];
    const auto through = [&block, &config = config_, layer, options](const at::Tensor& input) {
      return block.forward(input, config, layer, options);
    };
    x = recompute ? recomputed(x, through) : through(x);
    record(x);
  }
  const Stopwatch watch(options.times != nullptr ? &options.times->head : nullptr);
  const at::Tensor tokens = norm_(x);
  const at::Tensor features = head_.fc_norm(pool(tokens, config_));
  const at::Tensor& scales = options.training.feature_scales;
  if (!scales.defined()) return {tokens, features, head_.logits(features)};
  // DeiT distilled reads two tokens alike.
  const at::Tensor kept =
      features * (features.dim() == 3 ? scales.unsqueeze(1) : scales).to(features.options());
  return {tokens, features, head_.logits(kept)};
}

at::Tensor VisionTransformer::probabilities(const at::Tensor& logits) const {
  return config_.multi_label ? at::sigmoid(logits) : at::softmax(logits, -1);
}

}  // namespace vitascope::model
