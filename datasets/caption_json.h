#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datasets/captioned_images.h"
#include "vit/json.h"

/// \file
/// Captions as JSON, of untrusted files.
namespace vitascope::datasets {

/// Reads COCO's captions: `images` (id, file_name) and `annotations` (image_id, caption); or, where
/// images have `sentences`, a dataset that Karpathy split: `images` (filename, filepath, cocoid,
/// split, sentences [{raw or tokens}]). Its 'restval' is for training.
/// \throws InputError that names `path` and the key in it: one is missing or not of its kind, an id
///         stands twice, an image or a split is unknown
CaptionedImages parse_caption_json(const Json& json, const std::string& path);

/// What somebody's program says of a photo.
struct CaptionResult {
  std::string id;  ///< COCO's image id in digits, or what the file has instead
  std::string caption;
};

/// Reads COCO's results, a list of {image_id, caption}; or the lines of `caption --format json`, an
/// object a photo, of whose captions the first one counts and whose id is the name of its file.
/// \throws InputError that names `path` and the entry: neither, a key is missing or not of its
///         kind, an image has two captions
std::vector<CaptionResult> parse_caption_results(std::string_view text, const std::string& path);

}  // namespace vitascope::datasets
