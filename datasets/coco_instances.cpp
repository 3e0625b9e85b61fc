#include "datasets/coco_instances.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::datasets {
namespace {

std::string last_part(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// Whether one side follows from the other, rounded: a resize keeps one side exact.
bool same_aspect(image::Size annotated, image::Size photo) {
  const double across = static_cast<double>(photo.width) / annotated.width;
  const double down = static_cast<double>(photo.height) / annotated.height;
  return std::abs(annotated.width * down - photo.width) <= 1 ||
         std::abs(annotated.height * across - photo.height) <= 1;
}

MaskPixels pixels_of(at::Tensor& mask, image::Size size) {
  return {{mask.data_ptr<bool>(), static_cast<std::size_t>(mask.numel())}, size};
}

/// From the first to behind the last column (over the rows, 0) or row (over the columns, 1) that
/// has a pixel; twice 0 where none has.
std::pair<double, double> extent(const at::Tensor& mask, std::int64_t over) {
  const at::Tensor places = mask.any(over).nonzero().flatten();
  if (places.numel() == 0) return {0, 0};
  return {places.min().item<double>(), places.max().item<double>() + 1};
}

}  // namespace

CocoInstances::CocoInstances(CocoAnnotations annotations, std::string path)
    : annotations_(std::move(annotations)), path_(std::move(path)) {
  for (std::size_t i = 0; i < annotations_.photos.size(); ++i) {
    by_name_.emplace(last_part(annotations_.photos[i].file_name), i);
  }
}

const CocoPhoto* CocoInstances::find(const std::string& photo) const {
  const auto [first, end] = by_name_.equal_range(last_part(photo));
  if (first == end) return nullptr;
  const CocoPhoto& found = annotations_.photos[first->second];
  if (const auto second = std::next(first); second != end) {
    throw InputError(
        photo,
        fmt::format("could be '{}' or '{}' of {}: expected one image of that name",
                    printable(found.file_name),
                    printable(annotations_.photos[second->second].file_name), printable(path_)));
  }
  return &found;
}

std::vector<std::string> CocoInstances::categories(const std::string& photo) const {
  std::vector<bool> present(annotations_.categories.size());
  if (const CocoPhoto* found = find(photo)) {
    for (const CocoInstance& instance : found->instances) {
      if (!instance.crowd) present[instance.category] = true;
    }
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < present.size(); ++i) {
    if (present[i]) names.push_back(annotations_.categories[i]);
  }
  return names;
}

CocoInstances::Chosen CocoInstances::chosen(const std::string& photo, image::Size upright,
                                            const MaskChoice& choice) const {
  const std::vector<std::string>& names = annotations_.categories;
  if (choice.category && std::find(names.begin(), names.end(), *choice.category) == names.end()) {
    const std::string nearest = nearest_name(*choice.category, names);
    throw UsageError(fmt::format(
        "{} has no category '{}'{}", printable(path_), printable(*choice.category),
        nearest.empty() ? "" : fmt::format("; did you mean '{}'?", printable(nearest))));
  }
  const CocoPhoto* found = find(photo);
  if (found == nullptr) {
    throw InputError(photo, fmt::format("is none of the {} images of {}",
                                        annotations_.photos.size(), printable(path_)));
  }
  if (!same_aspect(found->size, upright)) {
    throw InputError(photo, fmt::format("has {} x {} pixels, but was annotated at {} x {} in {}: "
                                        "expected the same aspect ratio",
                                        upright.width, upright.height, found->size.width,
                                        found->size.height, printable(path_)));
  }
  Chosen result{found, {}};
  for (const CocoInstance& instance : found->instances) {
    if (instance.crowd && !choice.crowds) continue;
    if (choice.category && names[instance.category] != *choice.category) continue;
    result.instances.push_back(&instance);
  }
  return result;
}

at::Tensor CocoInstances::mask(const std::string& photo, image::Size upright,
                               const MaskChoice& choice) const {
  const Chosen found = chosen(photo, upright, choice);
  at::Tensor mask = at::zeros({upright.height, upright.width}, at::kBool);
  for (const CocoInstance* instance : found.instances) {
    draw(instance->region, found.photo->size, pixels_of(mask, upright));
  }
  return mask;
}

std::vector<image::Rectangle> CocoInstances::boxes(const std::string& photo, image::Size upright,
                                                   const MaskChoice& choice) const {
  const Chosen found = chosen(photo, upright, choice);
  at::Tensor mask = at::empty({upright.height, upright.width}, at::kBool);
  std::vector<image::Rectangle> boxes;
  boxes.reserve(found.instances.size());
  for (const CocoInstance* instance : found.instances) {
    mask.fill_(false);
    draw(instance->region, found.photo->size, pixels_of(mask, upright));
    const auto [left, right] = extent(mask, 0);
    const auto [top, bottom] = extent(mask, 1);
    if (right > left) boxes.push_back({left, top, right, bottom});
  }
  return boxes;
}

CocoInstances read_coco_instances(const std::string& path) {
  return {parse_coco_annotations(read_json(path), path), path};
}

}  // namespace vitascope::datasets
