#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "datasets/mask_region.h"
#include "vit/image/picture.h"
#include "vit/json.h"

/// \file
/// The objects of photos from a file in COCO's format (https://cocodataset.org/#format-data).
namespace vitascope::datasets {

/// One object of a photo.
struct CocoInstance {
  std::size_t category = 0;  ///< position in CocoAnnotations::categories
  bool crowd = false;        ///< stands for a group whose members were not told apart
  MaskRegion region;
};

/// A photo as the file describes it.
struct CocoPhoto {
  std::string file_name;  ///< with the folders that the file gives
  image::Size size;       ///< that the objects were drawn at
  std::vector<CocoInstance> instances;
};

/// What a file of annotations says.
struct CocoAnnotations {
  std::vector<std::string> categories;
  std::vector<CocoPhoto> photos;
};

/// Longest side of a photo and largest coordinate that a file may name.
inline constexpr int kLargestAnnotated = 1'000'000;

/// Reads `images` (id, file_name, width, height), `categories` (id, name) and `annotations`
/// (image_id, category_id, segmentation, bbox, iscrowd). A segmentation is a list of polygons, or
/// runs {size: [height, width], counts: a list or the compressed text}; without one, or with an
/// empty list, the bbox [x, y, width, height] takes its place.
/// \throws InputError that names `path` and the key in it: one is missing or not of its kind, an id
///         stands twice, an image or category is unknown, a polygon has no three corners, runs
///         don't add up to the photo's pixels, ...
CocoAnnotations parse_coco_annotations(const Json& json, const std::string& path);

}  // namespace vitascope::datasets
