#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "datasets/coco_annotations.h"
#include "vit/image/view.h"

/// \file
/// Which pixels of a photo belong to its objects, by annotations in COCO's format.
namespace vitascope::datasets {

/// Which of a photo's objects a mask has.
struct MaskChoice {
  std::optional<std::string> category = std::nullopt;  ///< of this name only
  bool crowds = false;                                 ///< also groups that were not told apart
};

/// The objects of many photos. A photo is found by the last part of its path, so that it may lie in
/// another folder than where it was annotated.
class CocoInstances {
 public:
  /// \param path of the file that the annotations are from, for messages
  CocoInstances(CocoAnnotations annotations, std::string path);

  /// Names of all categories, in the file's order.
  const std::vector<std::string>& categories() const { return annotations_.categories; }

  /// The photo's entry; null when the file has none.
  /// \throws InputError when several images of the file have that name
  const CocoPhoto* find(const std::string& photo) const;

  /// Categories of the photo's objects, each once, in the file's order; crowds don't count. Empty
  /// when the file has no such photo.
  std::vector<std::string> categories(const std::string& photo) const;

  /// The union of the photo's objects, bool [H, W]; all false when there are none.
  /// \param upright size of the decoded photo; what was annotated at another size is stretched
  /// \throws InputError for the photo when find() does, when the file has no such photo, or when it
  ///         was annotated at another aspect ratio (beyond a pixel)
  /// \throws UsageError when the file has no such category
  at::Tensor mask(const std::string& photo, image::Size upright,
                  const MaskChoice& choice = {}) const;

  /// The boxes of the same objects, in pixels of the upright photo; those without a pixel there
  /// have none.
  /// \throws as mask
  std::vector<image::Rectangle> boxes(const std::string& photo, image::Size upright,
                                      const MaskChoice& choice = {}) const;

 private:
  /// What mask and boxes look at: the photo's entry and, of its objects, those that are chosen.
  struct Chosen {
    const CocoPhoto* photo;
    std::vector<const CocoInstance*> instances;
  };
  Chosen chosen(const std::string& photo, image::Size upright, const MaskChoice& choice) const;

  CocoAnnotations annotations_;
  std::string path_;
  std::multimap<std::string, std::size_t> by_name_;  ///< last part of the file name -> photo
};

/// Reads a file of annotations of at most 64 MiB; COCO's own for val2017 take 20 MB.
/// \throws InputError as parse_coco_annotations and read_json do
CocoInstances read_coco_instances(const std::string& path);

}  // namespace vitascope::datasets
