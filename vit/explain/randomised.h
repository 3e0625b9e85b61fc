#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "vit/explain/map.h"
#include "vit/model/vision_transformer.h"

/// \file
/// Does a map depend on what the model learned? Cascading randomisation of the weights (Adebayo et
/// al. 2018, arXiv:1810.03292, section 4.1).
namespace vitascope::explain {

/// A network that has forgotten part of what it learned.
struct ForgetfulNetwork {
  std::string part;  ///< the part that it forgot last: "head", "blocks.11", ..., "embedding"
  model::VisionTransformer network;
};

/// The network without its head's knowledge, then without that of the last block too, and so on
/// down to the patch embedding. Each parameter's own numbers are shuffled among themselves: their
/// scale stays, what they had learned goes. Together they take the memory of one more network.
/// \param network with plain weights
std::vector<ForgetfulNetwork> cascade(const model::VisionTransformer& network, std::uint64_t seed);

/// How much of a map is left.
struct CascadeStage {
  std::string part;                   ///< forgotten, with all those before it
  std::optional<double> correlation;  ///< Spearman's; nothing where a map is constant
};

/// Spearman's rank correlation of a map with that of each network.
/// \param map         [rows, columns], of the network itself
/// \param map_of_same the same method's map of another network
std::vector<CascadeStage> cascade_correlations(
    const std::vector<ForgetfulNetwork>& networks, const at::Tensor& map,
    const std::function<Map(const model::VisionTransformer&)>& map_of_same);

/// Spearman's rank correlation of two maps of one grid; nothing where one is constant.
std::optional<double> map_correlation(const at::Tensor& one, const at::Tensor& other);

}  // namespace vitascope::explain
