#include "vit/caption/alignment/alignment.h"

#include <ATen/ATen.h>

#include <type_traits>

#include "vit/caption/alignment/masked_softmax.h"
#include "vit/caption/packed_weight.h"
#include "vit/error.h"

namespace vitascope::caption {

Alignment::Alignment(const AlignmentConfig& config) {
  validate(config);
  switch (config.score) {
    case Score::additive:
      break;
    case Score::dot:
      score = Dot{};
      break;
    case Score::general:
      score = General{};
      break;
    case Score::concat:
      score = Concat{};
      break;
    case Score::scaled_dot:
      score = ScaledDot{};
      break;
    case Score::multi_head:
      score.emplace<MultiHead>().heads = config.heads;
      break;
  }
  window.reach = config.reach;
  window.half_width = config.half_width;
}

void Alignment::list(const AlignmentConfig& config, const std::string& prefix, Slots& slots) {
  std::visit([&](auto& kind) { kind.list(config, prefix, slots); }, score);
  window.list(config, prefix, slots);
}

void Alignment::pack() {
  std::visit(
      [](auto& kind) {
        if constexpr (requires { kind.query.weight; }) pack_weight(kind.query);
      },
      score);
}

Prepared Alignment::prepare(const Annotations& annotations) const {
  Prepared prepared;
  if (const auto* heads = std::get_if<MultiHead>(&score)) {
    std::tie(prepared.keys, prepared.values) = heads->project(annotations.values);
  } else {
    prepared.values = annotations.values;
    std::visit(
        [&](const auto& kind) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(kind)>, MultiHead>) {
            prepared.keys = kind.keys(annotations.values);
          }
        },
        score);
  }
  prepared.places = {.count = annotations.values.size(1), .columns = annotations.columns};
  if (annotations.mask.defined()) {
    prepared.places.mask = annotations.mask.unsqueeze(1);
    prepared.places.lengths = annotations.mask.sum(1, true).to(annotations.values.scalar_type());
  }
  return prepared;
}

Aligned Alignment::align(const at::Tensor& queries, const Prepared& prepared,
                         std::int64_t step) const {
  if (const auto* heads = std::get_if<MultiHead>(&score)) {
    const auto attended = heads->attend(queries, {prepared.keys, prepared.values},
                                        window.field(queries, prepared.places, step), Maps::mean);
    return {attended.context, attended.weights.squeeze(1)};
  }
  const at::Tensor all = weights(queries, prepared, step);
  return {at::bmm(all, prepared.values), all};
}

at::Tensor Alignment::weights(const at::Tensor& queries, const Prepared& prepared,
                              std::int64_t step) const {
  const at::Tensor scores = std::visit(
      [&](const auto& kind) -> at::Tensor {
        if constexpr (std::is_same_v<std::decay_t<decltype(kind)>, MultiHead>) {
          throw InternalError("several heads have no single row of weights");
        } else {
          return kind.scores(queries, prepared.keys);
        }
      },
      score);
  const Field field = window.field(queries, prepared.places, step);
  const at::Tensor weights = masked_softmax(scores, field.visible);
  return field.fading.defined() ? weights * field.fading : weights;
}

Prepared select_photos(const Prepared& prepared, const at::Tensor& photos) {
  const auto chosen = [&](const at::Tensor& all) {
    return all.defined() ? all.index_select(0, photos) : all;
  };
  Prepared result = prepared;
  result.keys = chosen(prepared.keys);
  // Where the score reads the annotations themselves, there is one copy of them.
  result.values = prepared.values.is_same(prepared.keys) ? result.keys : chosen(prepared.values);
  result.places.mask = chosen(prepared.places.mask);
  result.places.lengths = chosen(prepared.places.lengths);
  return result;
}

}  // namespace vitascope::caption
