#pragma once

#include <ATen/core/Tensor.h>

#include "datasets/mask_region.h"
#include "datasets/scenes.h"
#include "vit/image/picture.h"

/// \file
/// Scenes as pixels.
namespace vitascope::datasets {

/// The outline of an object, in pixels; a circle has 72 corners.
MaskRegion outline(const SceneObject& object);

/// Draws a scene on a light background that varies a little, with smooth edges.
image::Picture draw(const Scene& scene);

/// The pixels that belong to what a phrase is about, bool [H, W].
at::Tensor mask(const Scene& scene, Role role);

}  // namespace vitascope::datasets
