#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "vit/caption/cnn_families.h"

namespace vitascope::caption {
namespace {

/// A block of EfficientNet-Lite0: its depthwise convolution.
struct Depthwise {
  std::int64_t kernel, stride;
};

// Repeats 1, 2, 2, 3, 3, 4, 1; the first of each stage moves.
constexpr std::array<Depthwise, 16> kLite0{{{3, 1},
                                            {3, 2},
                                            {3, 1},
                                            {5, 2},
                                            {5, 1},
                                            {3, 2},
                                            {3, 1},
                                            {3, 1},
                                            {5, 1},
                                            {5, 1},
                                            {5, 1},
                                            {5, 2},
                                            {5, 1},
                                            {5, 1},
                                            {5, 1},
                                            {3, 1}}};

Convolution convolution(std::string name, std::string norm_name, Activation activation) {
  Convolution made{.name = std::move(name),
                   .norm_name = std::move(norm_name),
                   .same_padding = true,
                   .activation = activation};
  made.norm.epsilon = 1e-3;  // TensorFlow's
  return made;
}

/// Outputs of a stored convolution; 0 where there is none.
std::int64_t outputs_of(const weights::StoredTensors& tensors, const std::string& name) {
  const auto found = tensors.tensors.find(name);
  return found == tensors.tensors.end() || found->second.shape.empty() ? 0 : found->second.shape[0];
}

/// An inverted residual: wider, depthwise, narrower (Sandler et al. 2018, arXiv:1801.04381).
CnnBlock block_of(const weights::StoredTensors& tensors, std::size_t index) {
  const std::string prefix = fmt::format("_blocks.{}.", index);
  const auto part = [&](const char* name, int norm, Activation activation) {
    return convolution(fmt::format("{}_{}_conv", prefix, name),
                       fmt::format("{}_bn{}", prefix, norm), activation);
  };
  CnnBlock block;
  if (index > 0) block.convolutions.push_back(part("expand", 0, Activation::relu6));
  Convolution depthwise = part("depthwise", 1, Activation::relu6);
  depthwise.kernel = kLite0[index].kernel;
  depthwise.stride = kLite0[index].stride;
  depthwise.groups = outputs_of(tensors, fmt::format("{}.weight", depthwise.name));
  block.convolutions.push_back(std::move(depthwise));
  block.convolutions.push_back(part("project", 2, Activation::none));
  if (index == 0 || kLite0[index].stride > 1) return block;
  const auto out = [&](std::size_t i) {
    return outputs_of(tensors, fmt::format("_blocks.{}._project_conv.weight", i));
  };
  block.residual = out(index) == out(index - 1);
  return block;
}

}  // namespace

std::optional<Cnn> efficientnet_lite_of(const weights::StoredTensors& tensors) {
  if (!tensors.tensors.contains("_conv_stem.weight")) return std::nullopt;
  std::size_t count = 0;
  while (tensors.tensors.contains(fmt::format("_blocks.{}._depthwise_conv.weight", count))) ++count;
  if (count != kLite0.size() || tensors.tensors.contains("_blocks.0._se_reduce.weight")) {
    throw std::invalid_argument(fmt::format(
        "has {} blocks{}: expected an EfficientNet-Lite0, which has {} without", count,
        tensors.tensors.contains("_blocks.0._se_reduce.weight") ? " with squeeze-and-excitation"
                                                                : "",
        kLite0.size()));
  }
  Cnn network{.name = "efficientnet_lite0"};
  Convolution stem = convolution("_conv_stem", "_bn0", Activation::relu6);
  stem.kernel = 3;
  stem.stride = 2;
  network.blocks.push_back({.convolutions = {std::move(stem)}});
  for (std::size_t i = 0; i < count; ++i) network.blocks.push_back(block_of(tensors, i));
  network.blocks.push_back(
      {.convolutions = {convolution("_conv_head", "_bn1", Activation::relu6)}});
  return network;
}

}  // namespace vitascope::caption
