#include "vit/train/initial_weights.h"

#include <ATen/ATen.h>

#include <cmath>
#include <string_view>

#include "vit/model/sincos_positions.h"

namespace vitascope::train {
namespace {

constexpr double kDeviation = 0.02;
constexpr double kCut = 2;  // deviations
constexpr double kLayerScale = 1e-5;

at::Tensor truncated_normal(at::IntArrayRef shape, double deviation, RandomNumbers& random) {
  at::Tensor values = at::empty(shape, at::kFloat);
  float* value = values.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    double drawn = random.normal();
    while (std::abs(drawn) > kCut) drawn = random.normal();
    value[i] = static_cast<float>(deviation * drawn);
  }
  return values;
}

double deviation_of(const model::ParameterShape& parameter) {
  const std::string_view name = parameter.name;
  std::int64_t fan_in = 1;
  for (std::size_t i = 1; i < parameter.shape.size(); ++i) fan_in *= parameter.shape[i];
  if (name.starts_with("patch_embed.")) {
    const double gain = name.starts_with("patch_embed.stem.") ? 2 : 1;  // of the GELU
    return std::sqrt(gain / static_cast<double>(fan_in));
  }
  if (!name.starts_with("blocks.")) return kDeviation;
  // Query, key and value are three products that lie below each other.
  const std::int64_t fan_out = parameter.shape[0] / (name.ends_with("attn.qkv.weight") ? 3 : 1);
  return std::sqrt(2.0 / static_cast<double>(fan_in + fan_out));
}

at::Tensor initial_values(const model::ParameterShape& parameter, const model::Config& config,
                          RandomNumbers& random) {
  const std::string_view name = parameter.name;
  if (name == "pos_embed" && !config.learned_positions) {
    return model::sincos_positions(config.width, config.position_grid, config.position_prefix);
  }
  if (name.ends_with(".gamma")) return at::full(parameter.shape, kLayerScale, at::kFloat);
  if (name.ends_with(".bias")) return at::zeros(parameter.shape, at::kFloat);
  if (parameter.shape.size() == 1) return at::ones(parameter.shape, at::kFloat);  // of a norm
  return truncated_normal(parameter.shape, deviation_of(parameter), random);
}

}  // namespace

model::VisionTransformer initial_network(const model::Config& config, RandomNumbers& random) {
  model::VisionTransformer network(config);
  const std::vector<model::ParameterShape> shapes = model::parameter_shapes(config);
  const auto slots = network.parameters();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    *slots[i].second = initial_values(shapes[i], config, random);
  }
  return network;
}

at::Tensor normal_weights(at::IntArrayRef shape, double deviation, RandomNumbers& random) {
  at::Tensor values = at::empty(shape, at::kFloat);
  float* value = values.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    value[i] = static_cast<float>(deviation * random.normal());
  }
  return values;
}

}  // namespace vitascope::train
