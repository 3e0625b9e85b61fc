#include "datasets/augmented_photo.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "vit/file.h"
#include "vit/image/header.h"

namespace vitascope::datasets {
namespace {

using image::Region;
using image::Size;

/// The size that a person will see, known before decoding; {0, 0} where only the decoder knows.
Size upright_size(const image::Header& header) {
  Size size = header.stored;
  if (header.orientation >= 5) std::swap(size.width, size.height);  // a quarter turn
  return size;
}

/// No part that may be drawn is narrower, and none is lower.
Size least_part(Size size, const image::CropRange& crop) {
  const double area = crop.least_area * size.width * size.height;
  const auto edge = [](double length, int most) {
    return std::min(most, static_cast<int>(std::floor(length)));
  };
  return {edge(std::sqrt(area * crop.least_aspect), size.width),
          edge(std::sqrt(area / crop.most_aspect), size.height)};
}

}  // namespace

int jpeg_reduction(Size part, Size output) {
  int reduction = 1;
  while (reduction < 8 && part.width >= output.width * reduction * 2 &&
         part.height >= output.height * reduction * 2)
    reduction *= 2;
  return reduction;
}

at::Tensor augmented_photo(const LabelledImages& images, std::size_t index, std::uint64_t epoch,
                           const PhotoRecipe& recipe) {
  const Sample& sample = images.samples[index];
  auto random = image::RandomStream::of(recipe.seed, epoch, index);
  const auto draw = [&](Size size) { return image::draw_part(size, recipe.augmentation, random); };
  if (sample.stored) {
    const image::Picture picture = decode(images, sample);
    return image::augment(picture, draw(picture.size), recipe.augmentation, recipe.specification,
                          random);
  }
  std::optional<Region> part;
  std::shared_ptr<const Decoded> photo = recipe.cache ? recipe.cache->find(index) : nullptr;
  if (photo) {
    part = draw(photo->drawn);
  } else {
    const auto file = MappedFile::open(sample.path);
    const Size known = upright_size(image::read_header(file->bytes(), sample.path));
    if (known.width > 0) part = draw(known);
    image::DecodeOptions options = recipe.decode;
    const auto output = image::output_size(recipe.specification);
    if (part && output) {
      const Size least = recipe.cache ? least_part(known, *recipe.augmentation.crop) : part->size;
      options.jpeg_reduction = jpeg_reduction(least, *output);
    }
    auto decoded = std::make_shared<Decoded>();
    decoded->picture = image::decode_bytes(file->bytes(), sample.path, options);
    decoded->drawn = known.width > 0 ? known : decoded->picture.size;
    if (known.width == 0) part = draw(decoded->drawn);
    photo = std::move(decoded);
    if (recipe.cache) recipe.cache->keep(index, photo);
  }
  if (part) part = image::scaled_part(*part, photo->drawn, photo->picture.size);
  return image::augment(photo->picture, part, recipe.augmentation, recipe.specification, random);
}

}  // namespace vitascope::datasets
