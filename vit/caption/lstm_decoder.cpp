#include "vit/caption/lstm_decoder.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <tuple>
#include <utility>
#include <vector>

#include "kernels/thin_linear.h"
#include "vit/caption/dropout.h"
#include "vit/caption/packed_weight.h"

namespace vitascope::caption {
namespace {

/// [B, Da], of the annotations that are seen.
at::Tensor mean_of(const Annotations& annotations) {
  if (!annotations.mask.defined()) return annotations.values.mean(1);
  const at::Tensor seen = annotations.mask.unsqueeze(-1);
  return (annotations.values * seen).sum(1) / seen.sum(1).clamp_min(1);
}

}  // namespace

LstmDecoder::LstmDecoder(const DecoderConfig& config)
    : config_(config), attention_(config.alignment) {}

void LstmDecoder::list(Slots& slots) {
  const std::int64_t n = config_.width, words = config_.embedding;
  const std::int64_t annotation = config_.alignment.annotation_width;
  const std::int64_t context = context_width(config_.alignment);
  const bool luong = config_.output == WordOutput::luong;
  slots.push_back({"embedding.weight", &embedding_, {config_.vocabulary, words}});
  attention_.list(config_.alignment, "att.", slots);
  if (config_.gate) gate_.list(n, "gate.", slots);
  slots.push_back({"init_h.weight", &init_h_.weight, {n, annotation}});
  slots.push_back({"init_h.bias", &init_h_.bias, {n}});
  slots.push_back({"init_c.weight", &init_c_.weight, {n, annotation}});
  slots.push_back({"init_c.bias", &init_c_.bias, {n}});
  slots.push_back({"lstm.weight_ih", &input_gates_.weight, {4 * n, words + (luong ? n : context)}});
  slots.push_back({"lstm.weight_hh", &hidden_gates_.weight, {4 * n, n}});
  slots.push_back({"lstm.bias_ih", &input_gates_.bias, {4 * n}});
  slots.push_back({"lstm.bias_hh", &hidden_gates_.bias, {4 * n}});
  if (luong) {
    slots.push_back({"out.W_c", &joined_out_.weight, {n, context + n}});
  } else {
    slots.push_back({"out.L_h", &hidden_out_.weight, {words, n}});
    slots.push_back({"out.L_z", &context_out_.weight, {words, context}});
  }
  slots.push_back({"out.L_o", &words_out_.weight, {config_.vocabulary, luong ? n : words}});
  slots.push_back({"out.b", &words_out_.bias, {config_.vocabulary}});
}

void LstmDecoder::pack() {
  attention_.pack();
  for (kernels::Weight* weight :
       {&input_gates_, &hidden_gates_, &hidden_out_, &context_out_, &joined_out_, &words_out_}) {
    if (weight->weight.defined()) pack_weight(*weight);
  }
}

DecoderState LstmDecoder::start(const Annotations& annotations) const {
  const at::Tensor mean = mean_of(annotations);
  DecoderState state;
  state.rows = PhotoRows(mean.size(0));
  state.photos = {attention_.prepare(annotations)};
  state.hidden = kernels::linear(mean, init_h_).tanh();
  state.cell = kernels::linear(mean, init_c_).tanh();
  // Luong's decoder reads what it said last; at first nothing.
  if (config_.output == WordOutput::luong) state.features = at::zeros_like(state.hidden);
  return state;
}

LstmStep LstmDecoder::look(const at::Tensor& query, const DecoderState& state,
                           const Choice& choice) const {
  const Prepared& photos = state.photos.front();
  const at::Tensor queries = state.rows.by_photo(query);
  LstmStep step;
  if (config_.attention == Attention::hard) {
    const at::Tensor weights = attention_.weights(queries, photos, state.step);
    const Chosen chosen = choose(weights, photos.values, choice);
    const auto by_row = [&](const at::Tensor& x) {
      return state.rows.by_row(x.view({weights.size(0), weights.size(1), -1}));
    };
    step.context = by_row(chosen.context);
    step.place = by_row(chosen.place).squeeze(1);
    step.log_place = by_row(chosen.log_place).squeeze(1);
    step.entropy = by_row(chosen.entropy).squeeze(1);
    step.weights = state.rows.by_row(weights);
  } else {
    const Aligned aligned = attention_.align(queries, photos, state.step);
    step.context = state.rows.by_row(aligned.context);
    step.weights = state.rows.by_row(aligned.weights);
  }
  if (config_.gate) step.context = step.context * gate_.beta(query);
  return step;
}

at::Tensor LstmDecoder::deep_features(const at::Tensor& words, const LstmStep& step) const {
  const at::Tensor sum = kernels::thin_linear(
      step.context, context_out_, kernels::thin_linear(step.hidden, hidden_out_, words));
  return config_.output == WordOutput::deep_tanh ? sum.tanh() : sum;
}

/// Hochreiter and Schmidhuber 1997, with a forget gate (Gers et al. 2000).
std::pair<at::Tensor, at::Tensor> LstmDecoder::cell_step(const at::Tensor& words,
                                                         const at::Tensor& beside,
                                                         const DecoderState& state) const {
  const at::Tensor inputs = at::cat({words, beside}, 1);
  const bool packed = input_gates_.weight.is_mkldnn();
  if (!packed && (at::GradMode::is_enabled() || !inputs.is_cpu())) {
    auto [hidden, cell] =
        at::lstm_cell(inputs, {state.hidden, state.cell}, input_gates_.weight, hidden_gates_.weight,
                      input_gates_.bias, hidden_gates_.bias);
    return {std::move(hidden), std::move(cell)};
  }
  const std::vector<at::Tensor> gates =
      kernels::thin_linear(inputs, input_gates_, kernels::thin_linear(state.hidden, hidden_gates_))
          .chunk(4, 1);
  const at::Tensor kept = gates[1].sigmoid().mul_(state.cell);
  const at::Tensor cell = kept.addcmul_(gates[0].sigmoid(), gates[2].tanh());
  return {gates[3].sigmoid().mul_(cell.tanh()), cell};
}

LstmStep LstmDecoder::advance(const at::Tensor& words, const DecoderState& state,
                              const Choice& choice) const {
  LstmStep step;
  if (config_.output == WordOutput::luong) {
    const auto [hidden, cell] = cell_step(words, state.features, state);
    step = look(hidden, state, choice);
    step.hidden = hidden;
    step.cell = cell;
    step.features = kernels::thin_linear(at::cat({step.context, hidden}, 1), joined_out_).tanh();
    return step;
  }
  step = look(state.hidden, state, choice);
  std::tie(step.hidden, step.cell) = cell_step(words, step.context, state);
  step.features = deep_features(words, step);
  return step;
}

at::Tensor LstmDecoder::logits(const at::Tensor& features) const {
  return kernels::thin_linear(features, words_out_);
}

at::Tensor LstmDecoder::embed(const at::Tensor& tokens) const {
  return at::embedding(embedding_, tokens);
}

Taught LstmDecoder::teach(const at::Tensor& tokens, const Annotations& annotations,
                          const TeachOptions& options) const {
  const std::int64_t batch = tokens.size(0), length = tokens.size(1);
  const at::Tensor told = embed(tokens);  // [B, T, E]
  DecoderState state = start(annotations);
  Choice choice{.random = options.random};
  if (options.random != nullptr && config_.attention == Attention::hard) {
    choice.expected = lots(batch, options.half_expected, *options.random).to(tokens.device());
  }
  std::vector<at::Tensor> features, weights, log_places, entropies;
  for (std::vector<at::Tensor>* list : {&features, &weights, &log_places, &entropies}) {
    list->reserve(static_cast<std::size_t>(length));
  }
  for (; state.step < length; ++state.step) {
    at::Tensor words = told.select(1, state.step);
    if (options.own_words > 0 && state.step > 0) {
      const at::Tensor own = draw(logits(state.features.detach()).softmax(-1), *options.random);
      const at::Tensor replaced =
          lots(batch, options.own_words, *options.random).to(tokens.device());
      words = at::where(replaced.unsqueeze(1), embed(own), words);
    }
    const LstmStep step = advance(words, state, choice);
    state.hidden = step.hidden;
    state.cell = step.cell;
    state.features = step.features;
    features.push_back(step.features);
    weights.push_back(step.weights);
    log_places.push_back(step.log_place);
    entropies.push_back(step.entropy);
  }
  Taught taught;
  const Dropout dropout{options.dropout, options.random};
  taught.logits = logits(dropout(at::stack(features, 1)));
  taught.weights = at::stack(weights, 1);
  if (config_.attention == Attention::hard) {
    taught.log_places = at::stack(log_places, 1);
    taught.entropies = at::stack(entropies, 1);
  }
  return taught;
}

}  // namespace vitascope::caption
