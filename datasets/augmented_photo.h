#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "datasets/decoded_cache.h"
#include "datasets/labelled_images.h"
#include "vit/image/augment.h"

/// \file
/// A sample as training sees it.
namespace vitascope::datasets {

/// How every photo is made ready.
struct PhotoRecipe {
  image::Specification specification;
  image::Augmentation augmentation;
  image::DecodeOptions decode;
  std::uint64_t seed = 0;
  std::shared_ptr<DecodedCache> cache{};  ///< null: photos are decoded again each time
};

/// Decodes and augments sample number `index`; what is random depends on the recipe's seed, the
/// epoch and the index. A JPEG of which the crop shows more pixels than the model sees is decoded
/// at a half, a quarter or an eighth of its size; with a cache as far as that serves every crop
/// that might be drawn. \return float32 [3, H, W] \throws InputError when the photo can't be
/// decoded
at::Tensor augmented_photo(const LabelledImages& images, std::size_t index, std::uint64_t epoch,
                           const PhotoRecipe& recipe);

/// The largest of 1, 2, 4, 8 by which a part can shrink and still have the pixels of `output`.
int jpeg_reduction(image::Size part, image::Size output);

}  // namespace vitascope::datasets
