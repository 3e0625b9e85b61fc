#include "app/report_page.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <filesystem>

#include "app/drawing/write_picture.h"
#include "vit/error.h"

namespace vitascope::app {
namespace {

/// Pages are looked at on screens: a longer photo would only weigh.
constexpr int kLongestSide = 1600;

/// What maps of attention begin at, for models that have no class token to ask.
std::string source_of(const model::Config& config) {
  switch (config.pooling) {
    case model::Pooling::mean_patches:
      return "all patches, averaged";
    case model::Pooling::first_two:
      return "the class and distillation tokens";
    default:
      return "the class token";
  }
}

report::MethodMap method_map(const PhotoMap& one) {
  const std::string& description = one.request.description;
  const auto colon = description.find(": ");
  return {one.request.label,
          colon == std::string::npos ? description : description.substr(colon + 2), "",
          one.of_class ? one.of_class->label : "", explain::numbers<float>(one.map.values)};
}

}  // namespace

report::Report page_of(const ExplainedPhoto& photo, const weights::Model& model) {
  report::Report page;
  const std::string name = std::filesystem::path(photo.picture.path).filename().string();
  page.title = "Where the model looked: " + name;
  page.model = model.name;
  page.photo = name;
  page.jpeg = drawing::photo_jpeg(photo.picture, kLongestSide);
  page.size = photo.picture.size;
  page.input = image::describe(*model.specification);
  page.rows = photo.grid.rows;
  page.columns = photo.grid.columns;
  page.cell = photo.view.cell(0, 0, page.rows, page.columns);
  page.seen = photo.view.seen();
  page.source = source_of(model.network.config());
  page.predictions = photo.likeliest;
  for (const LayerMaps& layer : photo.layers) {
    page.layers.push_back(
        {layer.layer, explain::numbers<float>(layer.heads),
         layer.patches.defined() ? explain::numbers<float>(layer.patches) : std::vector<float>()});
  }
  for (const PhotoMap& one : photo.maps) {
    if (!at::isfinite(one.map.values).all().item<bool>()) {
      throw InputError(photo.picture.path, one.request.name() + " gives no finite numbers here");
    }
    // The page shows every layer and head of raw attention, but only that of what the head reads.
    if (one.request.method->name == "raw" && !one.map.patch) continue;
    page.methods.push_back(method_map(one));
  }
  page.notes.emplace_back(
      "A map shows where information could flow, not why the model decided: compare with random.");
  return page;
}

}  // namespace vitascope::app
