#include <fmt/format.h>

#include "vit/caption/cnn_families.h"

namespace vitascope::caption {
namespace {

Convolution convolution(const std::string& prefix, int number, std::int64_t kernel) {
  return {.name = fmt::format("{}conv{}", prefix, number),
          .norm_name = fmt::format("{}bn{}", prefix, number),
          .kernel = kernel,
          .activation = Activation::relu};
}

/// Outputs of a stored convolution; 0 where there is none.
std::int64_t outputs_of(const weights::StoredTensors& tensors, const std::string& name) {
  const auto found = tensors.tensors.find(name);
  return found == tensors.tensors.end() || found->second.shape.size() != 4 ? 0
                                                                           : found->second.shape[0];
}

/// ResNeXt's bottleneck is of the same names: its groups show by the inputs of each.
std::int64_t groups_of(const weights::StoredTensors& tensors, const std::string& prefix) {
  const std::int64_t inputs = outputs_of(tensors, fmt::format("{}conv1.weight", prefix));
  if (outputs_of(tensors, fmt::format("{}conv2.weight", prefix)) == 0) return 1;
  const std::int64_t each = tensors.tensors.at(fmt::format("{}conv2.weight", prefix)).shape[1];
  return each > 0 && inputs % each == 0 && inputs > each ? inputs / each : 1;
}

CnnBlock block_of(const weights::StoredTensors& tensors, const std::string& prefix, bool bottleneck,
                  std::int64_t stride) {
  CnnBlock block{.residual = true};
  if (bottleneck) {
    block.convolutions = {convolution(prefix, 1, 1), convolution(prefix, 2, 3),
                          convolution(prefix, 3, 1)};
    // torchvision's variant moves in the 3 x 3 convolution, the paper in the first.
    block.convolutions[1].stride = stride;
    block.convolutions[1].groups = groups_of(tensors, prefix);
  } else {
    block.convolutions = {convolution(prefix, 1, 3), convolution(prefix, 2, 3)};
    block.convolutions[0].stride = stride;
  }
  const std::string shortcut = fmt::format("{}downsample.0", prefix);
  if (stride > 1 || tensors.tensors.contains(fmt::format("{}.weight", shortcut))) {
    block.shortcut = Convolution{
        .name = shortcut, .norm_name = fmt::format("{}downsample.1", prefix), .stride = stride};
  }
  return block;
}

}  // namespace

std::optional<Cnn> resnet_of(const weights::StoredTensors& tensors) {
  const auto has = [&](const std::string& name) { return tensors.tensors.contains(name); };
  if (!has("layer1.0.conv1.weight")) return std::nullopt;
  const bool bottleneck = has("layer1.0.conv3.weight");
  Cnn network;
  Convolution stem = convolution("", 1, 7);
  stem.stride = 2;
  network.blocks.push_back({.convolutions = {stem}});
  std::size_t weighted = 2;  // the stem and the head
  for (int layer = 1; layer <= 4; ++layer) {
    int index = 0;
    do {
      const bool moves = layer > 1 && index == 0;
      network.blocks.push_back(
          block_of(tensors, fmt::format("layer{}.{}.", layer, index), bottleneck, moves ? 2 : 1));
      weighted += bottleneck ? 3 : 2;
      ++index;
    } while (has(fmt::format("layer{}.{}.conv1.weight", layer, index)));
  }
  network.blocks[1].pool = 3;
  network.name = fmt::format("resnet{}", weighted);
  return network;
}

}  // namespace vitascope::caption
