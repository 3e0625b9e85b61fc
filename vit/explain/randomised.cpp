#include "vit/explain/randomised.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "vit/explain/statistics.h"
#include "vit/random_numbers.h"

namespace vitascope::explain {
namespace {

/// Parts from the head down.
std::vector<std::string> parts_of(const model::Config& config) {
  std::vector<std::string> parts;
  if (config.classes > 0) parts.emplace_back("head");
  for (int block = config.depth - 1; block >= 0; --block) {
    parts.push_back(fmt::format("blocks.{}", block));
  }
  parts.emplace_back("embedding");
  return parts;
}

/// The part that a parameter belongs to. The final norm goes with the head that reads it, or with
/// the last block of a backbone.
std::string part_of(const std::string& parameter, const model::Config& config) {
  if (parameter.starts_with("blocks.")) return parameter.substr(0, parameter.find('.', 7));
  for (const char* first : {"head", "fc_norm", "norm."}) {
    if (parameter.starts_with(first)) {
      return config.classes > 0 ? "head" : fmt::format("blocks.{}", config.depth - 1);
    }
  }
  return "embedding";
}

at::Tensor shuffled(const at::Tensor& values, RandomNumbers& random) {
  const std::vector<std::int64_t> order = random.permutation(values.numel());
  const at::Tensor index = at::tensor(order, at::kLong).to(values.device());
  return values.flatten().index_select(0, index).view(values.sizes());
}

}  // namespace

std::vector<ForgetfulNetwork> cascade(const model::VisionTransformer& network, std::uint64_t seed) {
  std::vector<ForgetfulNetwork> networks;
  RandomNumbers random(seed);
  model::VisionTransformer current = network;  // copies share what is not assigned anew
  for (const std::string& part : parts_of(network.config())) {
    for (auto& [name, slot] : current.parameters()) {
      if (part_of(name, network.config()) == part) *slot = shuffled(*slot, random);
    }
    networks.push_back({part, current});
  }
  return networks;
}

std::optional<double> map_correlation(const at::Tensor& one, const at::Tensor& other) {
  return spearman_correlation(numbers<double>(one), numbers<double>(other));
}

std::vector<CascadeStage> cascade_correlations(
    const std::vector<ForgetfulNetwork>& networks, const at::Tensor& map,
    const std::function<Map(const model::VisionTransformer&)>& map_of_same) {
  std::vector<CascadeStage> stages;
  stages.reserve(networks.size());
  for (const ForgetfulNetwork& one : networks) {
    stages.push_back({one.part, map_correlation(map, map_of_same(one.network).values)});
  }
  return stages;
}

}  // namespace vitascope::explain
