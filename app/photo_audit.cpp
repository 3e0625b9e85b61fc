#include "app/photo_audit.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/device.h"
#include "app/values.h"
#include "vit/error.h"
#include "vit/explain/statistics.h"
#include "vit/image/preprocess.h"

namespace vitascope::app {
namespace {

/// The number of a label that is known to be there.
std::int64_t number_of(const std::string& label, const std::vector<std::string>& labels) {
  return std::ranges::find(labels, label) - labels.begin();
}

std::vector<weights::Model> open_others(const weights::Model& model, const AuditChoice& choice,
                                        const RunOptions& run) {
  std::vector<weights::Model> others;
  others.reserve(choice.models.size());
  for (const std::string& path : choice.models) {
    ModelOptions options;
    options.model = path;
    others.push_back(open_model(options, run, /*pack=*/false));
    require_specification(others.back());
    const std::vector<std::string>& theirs = others.back().labels;
    for (const std::string& label : model.labels) {
      if (std::ranges::find(theirs, label) != theirs.end()) continue;
      throw UsageError(
          fmt::format("--other-models {}: it has no class {}, so it is no checkpoint "
                      "of the same kind",
                      path, in_quotes(label)));
    }
  }
  return others;
}

std::optional<datasets::CocoInstances> open_masks(const AuditChoice& choice) {
  if (choice.masks.empty()) return std::nullopt;
  datasets::CocoInstances objects = datasets::read_coco_instances(choice.masks);
  const std::vector<std::string>& known = objects.categories();
  if (!choice.mask_category.empty() &&
      std::ranges::find(known, choice.mask_category) == known.end()) {
    throw UsageError(fmt::format("--mask-category {}: {} has no such category{}",
                                 in_quotes(choice.mask_category), choice.masks,
                                 suggestion(choice.mask_category, known)));
  }
  return objects;
}

}  // namespace

PhotoAuditor::PhotoAuditor(const weights::Model& model, explain::Scores probabilities,
                           const AuditChoice& choice, const RunOptions& run, std::uint64_t seed,
                           MapMaker::GoOn go_on)
    : choice_(choice),
      backend_(kernels::parse_backend(run.attention)),
      auditor_(
          model.network, std::move(probabilities), *model.specification,
          audit_options(choice, seed), backend_, run.batch_size,
          [go_on = std::move(go_on)](const std::string& what, std::int64_t done, std::int64_t all) {
            if (!go_on(what, done, all)) throw MapMaker::Stopped();
          }),
      objects_(open_masks(choice)),
      others_(open_others(model, choice, run)) {}

PhotoAuditResult PhotoAuditor::audit(const ExplainedPhoto& photo) const {
  explain::AuditedPhoto audited{photo.pixels, photo.view, {}, {}};
  for (const Prediction& one : photo.likeliest) audited.likeliest.push_back(one.index);
  if (objects_) {
    datasets::MaskChoice chosen;
    if (!choice_.mask_category.empty()) chosen.category = choice_.mask_category;
    audited.object = objects_->mask(photo.picture.path, photo.picture.size, chosen);
  }
  std::vector<explain::AuditedMap> maps;
  maps.reserve(photo.maps.size());
  for (const PhotoMap& one : photo.maps) {
    maps.push_back({one.request.method, one.request.options, one.map});
  }
  PhotoAuditResult result;
  result.found = auditor_.audit(audited, maps);
  result.figures.fill = choice_.fill;
  std::vector<at::Tensor> seen_by_others;
  seen_by_others.reserve(others_.size());
  for (const weights::Model& other : others_) {
    seen_by_others.push_back(image::prepare(photo.picture, *other.specification)
                                 .pixels.unsqueeze(0)
                                 .to(device_of(other.network)));
  }
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const explain::MapAudit& found = result.found.maps[i];
    const auto& controls = result.found.controls.at(found.of_class);
    AuditedMapFigures figures{photo.maps[i].request.label, maps[i].method->needs_class(),
                              explain::figures_of(found, controls)};
    figures.figures["seconds"].value = photo.maps[i].seconds;
    if (const auto agree = agreement(photo.maps[i], seen_by_others)) {
      figures.figures["checkpoints"].value = *agree;
    }
    result.figures.maps.push_back(std::move(figures));
  }
  // Of the first map's class; the others' controls serve their own maps alone.
  result.figures.random =
      explain::figures_of(result.found.controls.at(result.found.maps.front().of_class));
  if (result.found.weights) result.figures.weights = explain::figures_of(*result.found.weights);
  return result;
}

/// \param pixels the photo as each of the other models sees it
std::optional<double> PhotoAuditor::agreement(const PhotoMap& map,
                                              const std::vector<at::Tensor>& pixels) const {
  if (map.request.method->probe != nullptr) return std::nullopt;
  std::vector<double> correlations;
  for (std::size_t i = 0; i < others_.size(); ++i) {
    const weights::Model& other = others_[i];
    const std::int64_t of_class = map.of_class ? number_of(map.of_class->label, other.labels) : 0;
    const explain::Map theirs = explain::map_of(*map.request.method, other.network, pixels[i],
                                                of_class, map.request.options, backend_);
    if (theirs.values.sizes() != map.map.values.sizes()) {
      throw UsageError(
          fmt::format("--other-models {}: its maps have {} x {} patches, these {} x {}", other.name,
                      theirs.values.size(0), theirs.values.size(1), map.map.values.size(0),
                      map.map.values.size(1)));
    }
    if (const auto one = explain::map_correlation(map.map.values, theirs.values)) {
      correlations.push_back(*one);
    }
  }
  if (correlations.empty()) return std::nullopt;
  return explain::mean(correlations);
}

AuditFigures mean_audit(const std::vector<AuditFigures>& photos) {
  AuditFigures all;
  all.photos = static_cast<std::int64_t>(photos.size());
  if (!photos.empty()) all.fill = photos.front().fill;
  std::vector<explain::Figures> random, weights;
  std::vector<std::vector<explain::Figures>> by_map;
  for (const AuditFigures& photo : photos) {
    random.push_back(photo.random);
    weights.push_back(photo.weights);
    for (const AuditedMapFigures& map : photo.maps) {
      auto known = std::ranges::find(all.maps, map.label, &AuditedMapFigures::label);
      if (known == all.maps.end()) {
        all.maps.push_back({map.label, map.tells_classes, {}});
        by_map.emplace_back();
        known = all.maps.end() - 1;
      }
      by_map[static_cast<std::size_t>(known - all.maps.begin())].push_back(map.figures);
    }
  }
  for (std::size_t i = 0; i < by_map.size(); ++i) {
    all.maps[i].figures = explain::mean_figures(by_map[i]);
  }
  all.random = explain::mean_figures(random);
  all.weights = explain::mean_figures(weights);
  return all;
}

}  // namespace vitascope::app
