#pragma once

#include "vit/model/vision_transformer.h"

/// \file
/// A network made quick for answers alone.
namespace vitascope::model {

/// Packs the weights of the products that lie plain on the CPU (\see kernels::pack). Copies of the
/// network keep theirs.
void pack_products(VisionTransformer& network);

}  // namespace vitascope::model
