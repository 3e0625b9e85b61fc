#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "app/pixel_comparison.h"

/// \file
/// The ways in which other programs prepare a photo, as pictures to compare with.
namespace vitascope::app {

/// A way of resizing, cropping and turning that differs from the specification.
struct Attempt {
  std::vector<Cause> causes;
  std::function<at::Tensor()> levels;  ///< [3, H, W] float32 in 0 to 255, channels RGB
};

/// [3, H, W] float32 levels of an 8-bit picture.
at::Tensor levels_of(const image::Picture& picture);

/// Every attempt that makes sense for this photo, the commonest first. They refer to `picture` and
/// `specification`, and do their work only when called.
std::vector<Attempt> attempts(const image::Picture& picture,
                              const image::Specification& specification);

}  // namespace vitascope::app
