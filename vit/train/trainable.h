#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vit/model/vision_transformer.h"
#include "vit/random_numbers.h"
#include "vit/train/named_tensors.h"
#include "vit/train/optimizer.h"

/// \file
/// Which parameters of a network learn, and how they are taken out and put back.
namespace vitascope::train {

/// What learns.
enum class Tuning {
  full,  ///< everything
  head,  ///< the head, and the norm after pooling
  bias,  ///< biases and the head (Ben Zaken et al. 2022, arXiv:2106.10199)
  lora,  ///< low-rank additions, which add_lora made, and the head
};

/// Whether a parameter of that name learns.
bool learns(std::string_view name, Tuning tuning);

/// Name and place of everything that can learn: VisionTransformer::parameters(), then `NAME.lora_a`
/// and `NAME.lora_b` of the products that have a low-rank addition.
std::vector<std::pair<std::string, at::Tensor*>> learnable_slots(model::VisionTransformer& network);

/// What a head answers with.
struct NewHead {
  int classes = 2;
  bool multi_label = false;                          ///< any number of them holds
  std::optional<bool> bias{};                        ///< nothing: as the network's head has it
  std::optional<model::NeighbourVote> neighbours{};  ///< nothing: it is linear
};

/// Gives the network the slots of another head, which are undefined. The other parameters are
/// shared with the old network.
model::VisionTransformer with_empty_head(const model::VisionTransformer& network,
                                         const NewHead& head);

/// Gives the network a head for another number of classes: weights of the normal distribution with
/// deviation 0.01, which leave all classes nearly alike at first, and biases of 0; \see
/// with_empty_head.
model::VisionTransformer with_new_head(const model::VisionTransformer& network, const NewHead& head,
                                       RandomNumbers& random);

/// Brings all parameters to one precision and makes those that learn leaves of autograd's graph in
/// memory of their own; position embeddings that are not to learn are none.
/// \param precision kFloat or kBFloat16
/// \return what learns, for an Optimizer
std::vector<Parameter> make_trainable(model::VisionTransformer& network, Tuning tuning,
                                      const RuleOptions& rules, at::ScalarType precision);

/// The network with other values for some of its slots, e.g. an average of them, in the precision
/// that the slots have; without gradients.
/// \throws std::invalid_argument when there is no slot of a name
model::VisionTransformer with_weights(const model::VisionTransformer& network,
                                      const NamedTensors& values);

}  // namespace vitascope::train
