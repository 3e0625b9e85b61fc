#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "vit/model/vision_transformer.h"
#include "vit/weights/key_map.h"
#include "vit/weights/stored_tensors.h"

/// \file
/// Stored bytes -> parameters of a network, nothing copied that need not be.
namespace vitascope::weights {

/// LibTorch's type for a stored one.
at::ScalarType scalar_type(DType dtype);

/// A stored tensor as LibTorch sees it: a view that keeps the file mapped, or a copy where its
/// bytes are not aligned to its element size. Read only.
at::Tensor view_of(const StoredTensor& stored);

/// Fills every parameter of `network`. What lies in the file as the network wants it stays a view
/// of the mapped file. What must be converted or concatenated is copied once, straight into its
/// final place, and the pages that it came from are given back, so that memory holds each weight
/// once.
/// \param precision kFloat or kBFloat16
/// \param pack      weights of products as kernels::pack leaves them: for inference on the CPU
void assemble(const StoredTensors& tensors, const std::vector<Assignment>& assignments,
              at::ScalarType precision, bool pack, model::VisionTransformer& network);

/// Fills every parameter with repeatable random numbers, as a trained network's are in size: for
/// benchmarks. Parameters share one pool of numbers, which makes it quick.
void assemble_random(at::ScalarType precision, bool pack, model::VisionTransformer& network);

}  // namespace vitascope::weights
