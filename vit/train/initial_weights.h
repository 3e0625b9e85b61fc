#pragma once

#include "vit/model/vision_transformer.h"
#include "vit/random_numbers.h"

/// \file
/// The weights that a network begins with when it learns from nothing.
namespace vitascope::train {

/// Numbers of the normal distribution, cut off at two deviations. The deviation is
/// sqrt(2 / (inputs + outputs)) for products in the blocks, as the vision transformer began (Glorot
/// and Bengio 2010; the 0.02 that timm has instead suits wide networks only); sqrt(2 / inputs) for
/// the convolutions of a stem (He et al. 2015, arXiv:1502.01852); sqrt(1 / inputs) for the patch
/// projection; 0.02 for tokens, learned position embeddings and heads. Norms are 1, LayerScale is
/// 1e-5 (Touvron et al. 2021, arXiv:2103.17239), biases are 0. Position embeddings that don't learn
/// are sines and cosines.
/// \throws std::invalid_argument when the configuration is not sound, or sines and cosines don't
///         fit its width
model::VisionTransformer initial_network(const model::Config& config, RandomNumbers& random);

/// float32 of the normal distribution with mean 0.
at::Tensor normal_weights(at::IntArrayRef shape, double deviation, RandomNumbers& random);

}  // namespace vitascope::train
