#pragma once

#include <ATen/core/Tensor.h>

#include "vit/explain/batches.h"
#include "vit/model/vision_transformer.h"

/// \file
/// What a patch matters by other measures than attention, to compare attention with (Jain & Wallace
/// 2019, arXiv:1902.10186, section 4.1). A number a patch, float64 [rows, columns] on the CPU.
namespace vitascope::explain {

/// |sum x d logit / d x| over the pixels x of a patch: by gradients, to first order, what the logit
/// loses with the patch's mean colour in its place.
/// \param pixels [1, 3, H, W], normalised
at::Tensor gradient_importance(const model::VisionTransformer& network, const at::Tensor& pixels,
                               std::int64_t of_class,
                               kernels::Backend backend = kernels::Backend::automatic);

/// Total variation distance between the answer to the photo and the answer without the patch.
/// \param pixels   [1, 3, H, W], normalised
/// \param baseline of the same shape: what stands where a patch was
/// \throws std::invalid_argument when rows and columns do not divide H and W
at::Tensor leave_one_out(const Scores& probabilities, const at::Tensor& pixels,
                         const at::Tensor& baseline, std::int64_t rows, std::int64_t columns,
                         const Batching& batching = {});

}  // namespace vitascope::explain
