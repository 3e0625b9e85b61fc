#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "vit/classifier.h"

/// \file
/// From probabilities to the classes that are worth a word.
namespace vitascope::app {

/// The `top` most probable classes, of equal ones the first, that are at least this probable.
/// \param probabilities [1, classes], float32, contiguous, on the CPU
std::vector<Prediction> likeliest(const at::Tensor& probabilities,
                                  const std::vector<std::string>& labels, std::size_t top,
                                  double threshold = 0);

}  // namespace vitascope::app
