#include "datasets/coco_annotations.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "vit/json_object.h"

namespace vitascope::datasets {
namespace {

/// Where the entry with an id stands in its list.
using Places = std::map<std::int64_t, std::size_t>;

std::int64_t id_of(const JsonObject& entry, const char* key) {
  const Json& id = entry.value(key);
  if (!id.is_number_integer()) entry.fail(key, "a whole number");
  return id.get<std::int64_t>();
}

void add_id(Places& places, const JsonObject& entry) {
  if (!places.emplace(id_of(entry, "id"), places.size()).second) {
    entry.fail("id", "an id that no entry before it has");
  }
}

std::size_t place_of(const Places& places, const JsonObject& entry, const char* key,
                     const char* list) {
  const auto found = places.find(id_of(entry, key));
  if (found == places.end()) entry.fail(key, fmt::format("an id that stands in '{}'", list));
  return found->second;
}

bool is_coordinate(const Json& value) {
  return value.is_number() && std::abs(value.get<double>()) <= kLargestAnnotated;
}

std::vector<double> box_of(const JsonObject& annotation) {
  const Json& box = annotation.value("bbox");
  const bool numbers = box.is_array() && box.size() == 4 && is_coordinate(box[0]) &&
                       is_coordinate(box[1]) && is_coordinate(box[2]) && is_coordinate(box[3]);
  if (!numbers || box[2].get<double>() < 0 || box[3].get<double>() < 0) {
    annotation.fail("bbox", fmt::format("[x, y, width, height], width and height at least 0, none "
                                        "beyond {}",
                                        kLargestAnnotated));
  }
  const double left = box[0].get<double>(), right = left + box[2].get<double>();
  const double top = box[1].get<double>(), bottom = top + box[3].get<double>();
  return {left, top, right, top, right, bottom, left, bottom};
}

std::vector<std::vector<double>> polygons_of(const JsonObject& annotation) {
  const auto fail = [&](std::size_t polygon, const std::string& what) {
    annotation.fail("segmentation",
                    fmt::format("polygons [x, y, x, y, ...] of three corners or more, no number "
                                "beyond {}; polygon {} has {}",
                                kLargestAnnotated, polygon, what));
  };
  std::vector<std::vector<double>> polygons;
  for (const Json& list : annotation.value("segmentation")) {
    if (!list.is_array()) fail(polygons.size(), "no list of numbers");
    if (list.size() < 6 || list.size() % 2 != 0) {
      fail(polygons.size(), fmt::format("{} numbers", list.size()));
    }
    std::vector<double>& polygon = polygons.emplace_back();
    polygon.reserve(list.size());
    for (const Json& number : list) {
      if (!is_coordinate(number)) {
        fail(polygons.size() - 1, fmt::format("something else as number {}", polygon.size()));
      }
      polygon.push_back(number.get<double>());
    }
  }
  return polygons;
}

std::vector<std::int64_t> counts_of(const JsonObject& runs, std::int64_t most) {
  const Json& counts = runs.value("counts");
  if (counts.is_string()) {
    auto decoded = decode_runs(counts.get_ref<const std::string&>());
    if (!decoded) runs.fail("counts", "compressed runs; this text is damaged");
    return std::move(*decoded);
  }
  if (!counts.is_array()) runs.fail("counts", "a list of runs, or compressed runs as text");
  std::vector<std::int64_t> result;
  result.reserve(counts.size());
  for (const Json& count : counts) {
    const std::int64_t length = count.is_number_integer() ? count.get<std::int64_t>() : -1;
    if (length < 0 || length > most) {
      runs.fail("counts",
                fmt::format("whole numbers, 0 to {}; number {} is not", most, result.size()));
    }
    result.push_back(length);
  }
  return result;
}

std::vector<std::int64_t> runs_of(const JsonObject& runs, image::Size size) {
  if (runs.pair("size", 1, kLargestAnnotated) != std::pair{size.height, size.width}) {
    runs.fail("size",
              fmt::format("[{}, {}], the height and width of the image", size.height, size.width));
  }
  const std::int64_t pixels = std::int64_t{size.width} * size.height;
  std::vector<std::int64_t> result = counts_of(runs, pixels);
  std::int64_t sum = 0;  // stops before it could overflow
  for (auto run = result.begin(); run != result.end() && sum <= pixels; ++run) sum += *run;
  if (sum != pixels) {
    runs.fail("counts",
              fmt::format("runs that add up to {} x {} = {} pixels; these give {}{}", size.width,
                          size.height, pixels, sum > pixels ? "at least " : "", sum));
  }
  return result;
}

MaskRegion region_of(const JsonObject& annotation, image::Size size) {
  MaskRegion region;
  const Json& segmentation = annotation.value("segmentation");
  if (segmentation.is_object()) {
    region.runs = runs_of(annotation.object("segmentation"), size);
  } else if (segmentation.is_array() && !segmentation.empty()) {
    region.polygons = polygons_of(annotation);
  } else if (segmentation.is_array() || segmentation.is_null()) {
    region.polygons.push_back(box_of(annotation));
  } else {
    annotation.fail("segmentation", "a list of polygons, or {\"size\", \"counts\"}");
  }
  return region;
}

}  // namespace

CocoAnnotations parse_coco_annotations(const Json& json, const std::string& path) {
  const JsonObject root(json, path);
  CocoAnnotations result;
  Places categories, photos, annotations;
  for (const JsonObject& entry : root.objects("categories")) {
    add_id(categories, entry);
    result.categories.push_back(entry.text("name"));
  }
  for (const JsonObject& entry : root.objects("images")) {
    add_id(photos, entry);
    CocoPhoto& photo = result.photos.emplace_back();
    photo.file_name = entry.text("file_name");
    photo.size = {entry.integer("width", 1, kLargestAnnotated),
                  entry.integer("height", 1, kLargestAnnotated)};
  }
  for (const JsonObject& entry : root.objects("annotations")) {
    if (entry.has("id")) add_id(annotations, entry);
    CocoPhoto& photo = result.photos[place_of(photos, entry, "image_id", "images")];
    CocoInstance& instance = photo.instances.emplace_back();
    instance.category = place_of(categories, entry, "category_id", "categories");
    instance.crowd = entry.integer("iscrowd", 0, 1, 0) == 1;
    instance.region = region_of(entry, photo.size);
  }
  return result;
}

}  // namespace vitascope::datasets
