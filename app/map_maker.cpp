#include "app/map_maker.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/device.h"
#include "app/values.h"
#include "vit/error.h"
#include "vit/explain/layer.h"
#include "vit/explain/perturbation.h"
#include "vit/image/preprocess.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return c < 128 ? std::tolower(c) : c; });
  return text;
}

at::Tensor on_device(const weights::Model& model, const at::Tensor& pixels) {
  return pixels.to(device_of(model.network));
}

constexpr int kLikeliest = 5;

/// Above this many patches the attention between all of them is left out: it would be the most of
/// what is in memory, and of a page.
constexpr int kPatchesWithAttention = 400;

/// Attention of every layer, head by head.
std::vector<LayerMaps> layers_of(const explain::Recorded& recorded) {
  std::vector<LayerMaps> layers;
  for (int number = 0; number < explain::depth(recorded); ++number) {
    const explain::Layer layer(recorded, number, 0);
    std::vector<at::Tensor> heads;
    heads.reserve(static_cast<std::size_t>(layer.heads()));
    for (int head = 0; head < layer.heads(); ++head) {
      explain::Query query;
      query.layer = number;
      query.head = head;
      heads.push_back(explain::attention_map(recorded, query).values.flatten());
    }
    at::Tensor patches;
    if (recorded.grid.count() <= kPatchesWithAttention) {
      patches = layer.mean_probabilities().slice(0, recorded.prefix).slice(1, recorded.prefix);
    }
    layers.push_back({number, at::stack(heads), patches});
  }
  return layers;
}

/// Makes the patch at a point of the photo the query of raw attention.
/// \throws std::invalid_argument when the network does not see the point
void ask_from(std::pair<double, double> point, const image::View& view, model::Grid grid,
              std::vector<MapRequest>& requests) {
  int row = 0, column = 0;
  if (!view.find_cell(point.first, point.second, grid.rows, grid.columns, row, column)) {
    const image::Rectangle seen = view.seen();
    throw std::invalid_argument(
        fmt::format("--from {:g},{:g}: the network does not see that point; it sees {:g} to {:g} "
                    "across and {:g} to {:g} down",
                    point.first, point.second, seen.left, seen.right, seen.top, seen.bottom));
  }
  for (MapRequest& request : requests) {
    request.options.query.patch = std::int64_t{row} * grid.columns + column;
  }
}

/// The chosen classes of logits [1, classes].
std::vector<ExplainedClass> classes_of(const weights::Model& model, const at::Tensor& logits,
                                       const ClassChoice& choice) {
  const at::Tensor probabilities =
      model.network.probabilities(logits).to(at::kCPU, at::kFloat).squeeze(0);
  const auto at = [&](std::int64_t index) -> ExplainedClass {
    return {static_cast<int>(index), model.labels[static_cast<std::size_t>(index)],
            probabilities[index].item<double>()};
  };
  if (choice.index) return {at(*choice.index)};
  const at::Tensor order = probabilities.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/true);
  std::vector<ExplainedClass> classes;
  classes.reserve(static_cast<std::size_t>(choice.top));
  for (int i = 0; i < choice.top; ++i) classes.push_back(at(order[i].item<std::int64_t>()));
  return classes;
}

}  // namespace

ClassChoice parse_class(const std::string& text, const std::vector<std::string>& labels) {
  const int count = static_cast<int>(labels.size());
  if (text == "predicted") return {};
  if (text.starts_with("top-")) {
    const auto top = number_of(std::string_view(text).substr(4));
    if (top && *top >= 1) return {std::min(*top, count), {}};
  }
  for (int i = 0; i < count; ++i) {
    if (lower(labels[static_cast<std::size_t>(i)]) == lower(text)) return {1, i};
  }
  if (const auto index = number_of(text)) {
    if (*index >= 0 && *index < count) return {1, index};
    throw UsageError(
        fmt::format("--class {}: the model has {} classes, 0 to {}", text, count, count - 1));
  }
  const std::string nearest = nearest_name(text, labels);
  throw UsageError(fmt::format(
      "--class {}: the model has no such class{} (a class is predicted, top-K, a number, or one of "
      "the labels that 'vitascope info' lists)",
      in_quotes(text), nearest.empty() ? "" : "; did you mean " + in_quotes(nearest) + "?"));
}

MapMaker::MapMaker(const weights::Model& model, const RunOptions& run,
                   std::vector<MapRequest> requests, ClassChoice classes,
                   PerturbationChoice perturbation, std::optional<std::pair<double, double>> point,
                   bool keep_layers, GoOn go_on)
    : model_(model),
      run_(run),
      requests_(std::move(requests)),
      classes_(classes),
      perturbation_(perturbation),
      point_(point),
      keep_layers_(keep_layers),
      go_on_(std::move(go_on)) {}

ExplainedPhoto MapMaker::explain(const std::string& path,
                                 const image::DecodeOptions& decode) const {
  ExplainedPhoto photo;
  photo.picture = image::decode(path, decode);
  const image::Prepared prepared = image::prepare(photo.picture, *model_.specification);
  photo.view = prepared.view;
  const at::Tensor pixels = on_device(model_, prepared.pixels.unsqueeze(0));
  try {
    add_maps(pixels, prepared.view, photo);
  } catch (const std::invalid_argument& error) {
    throw InputError(path, error.what());
  }
  return photo;
}

void MapMaker::add_maps(const at::Tensor& pixels, const image::View& view,
                        ExplainedPhoto& photo) const {
  photo.grid = model::patch_grid(model_.network.config(), pixels.size(2), pixels.size(3));
  std::vector<MapRequest> requests = requests_;
  if (point_) ask_from(*point_, view, photo.grid, requests);
  explain::Wanted wanted;
  wanted.attention = keep_layers_;
  for (const MapRequest& request : requests) wanted = wanted | wanted_by(request);
  explain::Recorded recorded =
      explain::record(model_.network, pixels, wanted, kernels::parse_backend(run_.attention));
  std::vector<ExplainedClass> classes;
  if (recorded.output.logits.defined()) {
    const at::Tensor logits = recorded.output.logits.detach();
    classes = classes_of(model_, logits, classes_);
    const int likeliest = std::min(kLikeliest, static_cast<int>(model_.labels.size()));
    photo.likeliest = classes_of(model_, logits, {likeliest, {}});
  }
  if (keep_layers_) photo.layers = layers_of(recorded);
  photo.maps = maps_of(requests, classes, pixels, recorded);
}

std::vector<PhotoMap> MapMaker::maps_of(const std::vector<MapRequest>& requests,
                                        const std::vector<ExplainedClass>& classes,
                                        const at::Tensor& pixels,
                                        explain::Recorded& recorded) const {
  // In the order of the requests, whatever the order in which they are served.
  std::vector<std::vector<PhotoMap>> maps(requests.size());
  const auto read = [&](std::size_t i, const std::optional<ExplainedClass>& of_class) {
    const MapRequest& request = requests[i];
    const explain::Method& method = explain::find_method(request.method);
    maps[i].push_back({request, method.map(recorded, request.options), of_class});
  };
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!needs_class(requests[i])) read(i, {});
  }
  for (const ExplainedClass& one : classes) {
    if (recorded.wanted.gradients()) explain::take_gradients(model_.network, recorded, {one.index});
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (wanted_by(requests[i]).gradients()) read(i, one);
    }
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!needs_class(requests[i]) || wanted_by(requests[i]).gradients()) continue;
    const at::Tensor perturbed_maps = perturbed(requests[i], pixels, recorded.grid, classes);
    for (std::size_t k = 0; k < classes.size(); ++k) {
      explain::Map map{perturbed_maps[static_cast<std::int64_t>(k)], requests[i].method};
      map.class_index = classes[k].index;
      maps[i].push_back({requests[i], map, classes[k]});
    }
  }
  std::vector<PhotoMap> all;
  for (std::vector<PhotoMap>& of_request : maps) {
    std::move(of_request.begin(), of_request.end(), std::back_inserter(all));
  }
  return all;
}

at::Tensor MapMaker::perturbed(const MapRequest& request, const at::Tensor& pixels,
                               model::Grid grid, const std::vector<ExplainedClass>& classes) const {
  const c10::InferenceMode inference;
  const auto scores = [&](const at::Tensor& batch) {
    const model::Output output = model_.network.forward(
        on_device(model_, batch), {.backend = kernels::parse_backend(run_.attention)});
    return model_.network.probabilities(output.logits);
  };
  const explain::Batching batching{run_.batch_size, [&](std::int64_t done, std::int64_t all) {
                                     if (!go_on_(request.method, done, all)) throw Stopped();
                                   }};
  std::vector<std::int64_t> indices;
  indices.reserve(classes.size());
  for (const ExplainedClass& one : classes) indices.push_back(one.index);
  const at::Tensor picture = pixels.cpu();
  at::Tensor maps;
  if (request.method == "rise") {
    explain::RiseOptions options;
    options.masks = perturbation_.rise_masks;
    options.seed = request.options.seed;
    maps = explain::rise(scores, picture, indices, options, batching);
  } else {
    const int patch = model_.network.config().patch;
    const int edge = perturbation_.occlusion_edge > 0 ? perturbation_.occlusion_edge : patch;
    const int stride = perturbation_.occlusion_stride > 0 ? perturbation_.occlusion_stride : edge;
    maps = explain::occlusion(scores, picture, indices, {edge, stride, {}}, batching);
  }
  return explain::cell_means(maps, grid.rows, grid.columns).to(at::kFloat);
}

}  // namespace vitascope::app
