#include "vit/caption/transformer_decoder.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cmath>
#include <tuple>

#include "kernels/attention.h"
#include "vit/caption/packed_weight.h"
#include "vit/caption/positions.h"
#include "vit/caption/selection.h"

namespace vitascope::caption {

TransformerDecoder::TransformerDecoder(const DecoderConfig& config)
    : config_(config), layers_(static_cast<std::size_t>(config.layers)) {
  for (TransformerLayer& layer : layers_) layer.cross.heads = config.alignment.heads;
}

void TransformerDecoder::list(Slots& slots) {
  const std::int64_t width = config_.width;
  const auto linear = [&](const std::string& name, kernels::Weight& weight, std::int64_t inputs,
                          std::int64_t outputs) {
    slots.push_back({name + ".weight", &weight.weight, {outputs, inputs}});
    slots.push_back({name + ".bias", &weight.bias, {outputs}});
  };
  const auto norm = [&](const std::string& name, model::LayerNorm& layer) {
    slots.push_back({name + ".weight", &layer.weight, {width}});
    slots.push_back({name + ".bias", &layer.bias, {width}});
  };
  slots.push_back({"embedding.weight", &embedding_, {config_.vocabulary, width}});
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    TransformerLayer& layer = layers_[i];
    const std::string prefix = fmt::format("layers.{}.", i);
    norm(prefix + "norm1", layer.norm1);
    linear(prefix + "self_attn.qkv", layer.qkv, width, 3 * width);
    linear(prefix + "self_attn.proj", layer.proj, width, width);
    norm(prefix + "norm2", layer.norm2);
    layer.cross.list(config_.alignment, prefix + "cross_attn.", slots);
    norm(prefix + "norm3", layer.norm3);
    linear(prefix + "mlp.fc1", layer.fc1, width, config_.mlp_width);
    linear(prefix + "mlp.fc2", layer.fc2, config_.mlp_width, width);
  }
  norm("norm", norm_);
  linear("out", out_, width, config_.vocabulary);
}

void TransformerDecoder::pack() {
  for (TransformerLayer& layer : layers_) {
    for (kernels::Weight* weight : {&layer.qkv, &layer.proj, &layer.cross.query,
                                    &layer.cross.output, &layer.fc1, &layer.fc2}) {
      pack_weight(*weight);
    }
  }
  pack_weight(out_);
}

DecoderState TransformerDecoder::start(const Annotations& annotations) const {
  DecoderState state;
  state.rows = PhotoRows(annotations.values.size(0));
  state.photos.reserve(layers_.size());
  for (const TransformerLayer& layer : layers_) {
    Prepared prepared;
    prepared.places.count = annotations.values.size(1);
    std::tie(prepared.keys, prepared.values) = layer.cross.project(annotations.values);
    if (annotations.mask.defined()) prepared.places.mask = annotations.mask.unsqueeze(1);
    state.photos.push_back(std::move(prepared));
  }
  state.caches.resize(layers_.size());
  return state;
}

at::Tensor TransformerDecoder::self_attention(const TransformerLayer& layer, const at::Tensor& x,
                                              Cache* cache, std::int64_t step) const {
  const std::int64_t heads = config_.alignment.heads;
  const at::Tensor packed = kernels::linear(x, layer.qkv)
                                .view({x.size(0), x.size(1), 3, heads, config_.width / heads})
                                .permute({2, 0, 3, 1, 4});  // [3, R, H, T, D]
  const at::Tensor q = packed[0], k = packed[1], v = packed[2];
  if (cache == nullptr) return kernels::attention(q, k, v, {.causal = true}).out;
  cache->append(k, v, step);
  return kernels::attention(q, cache->keys.narrow(2, 0, step + 1),
                            cache->values.narrow(2, 0, step + 1))
      .out;
}

TransformerDecoder::Result TransformerDecoder::pass(const at::Tensor& tokens, DecoderState& state,
                                                    bool cached, bool weights,
                                                    const Dropout& dropout) const {
  const Positions places{cached ? state.step : 0, tokens.size(1)};
  const at::Tensor words =
      at::embedding(embedding_, tokens) * std::sqrt(static_cast<double>(config_.width));
  at::Tensor x = dropout(words + sinusoidal_positions(places, config_.width).to(words.options()));
  Result result;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const TransformerLayer& layer = layers_[i];
    const Prepared& photos = state.photos[i];
    const bool last = i + 1 == layers_.size();
    const at::Tensor said =
        self_attention(layer, layer.norm1(x), cached ? &state.caches[i] : nullptr, state.step);
    x = x + dropout(kernels::linear(said, layer.proj));
    at::Tensor queries = layer.norm2(x);
    if (cached) queries = state.rows.by_photo(queries.squeeze(1));
    const MultiHead::Result seen =
        layer.cross.attend(queries, {photos.keys, photos.values}, {.visible = photos.places.mask},
                           last && weights ? Maps::mean : Maps::none);
    const auto by_row = [&](const at::Tensor& grouped) {
      return cached ? state.rows.by_row(grouped).unsqueeze(1) : grouped;
    };
    if (last && weights) result.weights = by_row(seen.weights.squeeze(1));
    x = x + dropout(by_row(seen.context));
    const at::Tensor inner =
        kernels::linear(layer.norm3(x), layer.fc1, {.activation = kernels::Activation::relu});
    x = x + dropout(kernels::linear(inner, layer.fc2));
  }
  result.features = norm_(x);
  return result;
}

TransformerDecoder::Result TransformerDecoder::advance(const at::Tensor& tokens,
                                                       DecoderState& state) const {
  return pass(tokens.unsqueeze(1), state, true, true, {});
}

at::Tensor TransformerDecoder::logits(const at::Tensor& features) const {
  return kernels::linear(features, out_);
}

at::Tensor TransformerDecoder::with_own_words(const at::Tensor& tokens, DecoderState& state,
                                              const TeachOptions& options) const {
  const std::int64_t known = tokens.size(1) - 1;
  if (known < 1) return tokens;
  const at::NoGradGuard guard;
  const at::Tensor features = pass(tokens, state, false, false, {}).features.narrow(1, 0, known);
  const at::Tensor own = draw(logits(features).softmax(-1).flatten(0, 1), *options.random);
  const at::Tensor replaced =
      lots(own.size(0), options.own_words, *options.random).to(tokens.device());
  const at::Tensor rest = tokens.narrow(1, 1, known);
  const at::Tensor mixed = at::where(replaced.view_as(rest), own.view_as(rest), rest);
  return at::cat({tokens.narrow(1, 0, 1), mixed}, 1);
}

Taught TransformerDecoder::teach(const at::Tensor& tokens, const Annotations& annotations,
                                 const TeachOptions& options) const {
  DecoderState state = start(annotations);
  const Dropout dropout{options.dropout, options.random};
  at::Tensor told = tokens;
  if (options.own_words > 0) told = with_own_words(tokens, state, options);
  const Result result = pass(told, state, false, options.weights, dropout);
  Taught taught;
  taught.logits = logits(result.features);
  taught.weights = result.weights;
  return taught;
}

}  // namespace vitascope::caption
