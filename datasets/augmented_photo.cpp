#include "datasets/augmented_photo.h"

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
  std::optional<Region> part;
  image::Picture picture;
  Size known;
  if (sample.stored) {
    picture = decode(images, sample);
  } else {
    const auto file = MappedFile::open(sample.path);
    known = upright_size(image::read_header(file->bytes(), sample.path));
    image::DecodeOptions options = recipe.decode;
    if (known.width > 0) {
      part = image::draw_part(known, recipe.augmentation, random);
      const auto output = image::output_size(recipe.specification);
      if (part && output) options.jpeg_reduction = jpeg_reduction(part->size, *output);
    }
    picture = image::decode_bytes(file->bytes(), sample.path, options);
  }
  if (known.width == 0) {
    part = image::draw_part(picture.size, recipe.augmentation, random);
  } else if (part) {
    part = image::scaled_part(*part, known, picture.size);
  }
  return image::augment(picture, part, recipe.augmentation, recipe.specification, random);
}

}  // namespace vitascope::datasets
