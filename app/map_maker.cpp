#include "app/map_maker.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "app/device.h"
#include "app/likeliest.h"
#include "app/values.h"
#include "vit/error.h"
#include "vit/explain/layer.h"
#include "vit/image/preprocess.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

constexpr std::size_t kLikeliest = 5;

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

/// The chosen classes.
/// \param probabilities [1, classes]
std::vector<Prediction> chosen(const at::Tensor& probabilities,
                               const std::vector<std::string>& labels, const ClassChoice& choice) {
  if (!choice.index) return likeliest(probabilities, labels, static_cast<std::size_t>(choice.top));
  const auto index = static_cast<std::size_t>(*choice.index);
  return {{*choice.index, labels[index], probabilities.const_data_ptr<float>()[index]}};
}

}  // namespace

ClassChoice parse_class(const std::string& text, const std::vector<std::string>& labels) {
  const int count = static_cast<int>(labels.size());
  if (text == "predicted") return {};
  if (text.starts_with("top-")) {
    const auto top = parse_whole<int>(std::string_view(text).substr(4));
    if (top && *top >= 1) return {std::min(*top, count), {}};
  }
  for (int i = 0; i < count; ++i) {
    if (lower_case(labels[static_cast<std::size_t>(i)]) == lower_case(text)) return {1, i};
  }
  if (const auto index = parse_whole<int>(text)) {
    if (*index >= 0 && *index < count) return {1, index};
    throw UsageError(
        fmt::format("--class {}: the model has {} classes, 0 to {}", text, count, count - 1));
  }
  throw UsageError(fmt::format(
      "--class {}: the model has no such class{} (a class is predicted, top-K, a number, or one of "
      "the labels that 'vitascope info' lists)",
      in_quotes(text), suggestion(text, labels)));
}

MapMaker::MapMaker(const weights::Model& model, const RunOptions& run, MapWork work, GoOn go_on)
    : model_(model), run_(run), work_(std::move(work)), go_on_(std::move(go_on)) {}

ExplainedPhoto MapMaker::explain(const std::string& path,
                                 const image::DecodeOptions& decode) const {
  ExplainedPhoto photo;
  photo.picture = image::decode(path, decode);
  const image::Prepared prepared = image::prepare(photo.picture, *model_.specification);
  photo.view = prepared.view;
  photo.pixels = prepared.pixels.unsqueeze(0).to(device_of(model_.network));
  try {
    add_maps(photo);
  } catch (const std::invalid_argument& error) {
    throw InputError(path, error.what());
  }
  return photo;
}

void MapMaker::add_maps(ExplainedPhoto& photo) const {
  photo.grid =
      model::patch_grid(model_.network.config(), photo.pixels.size(2), photo.pixels.size(3));
  std::vector<MapRequest> requests = work_.requests;
  if (work_.point) ask_from(*work_.point, photo.view, photo.grid, requests);
  std::vector<std::vector<MapRequest>> passes{requests};
  if (work_.apart) {
    passes.clear();
    for (const MapRequest& request : requests) passes.push_back({request});
  }
  for (const std::vector<MapRequest>& pass : passes) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<PhotoMap> maps = maps_in_one_pass(pass, photo);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    for (PhotoMap& one : maps) one.seconds = taken.count() / static_cast<double>(maps.size());
    std::ranges::move(maps, std::back_inserter(photo.maps));
  }
}

std::vector<PhotoMap> MapMaker::maps_in_one_pass(const std::vector<MapRequest>& requests,
                                                 ExplainedPhoto& photo) const {
  const bool keep_layers = work_.keep_layers && photo.layers.empty();
  explain::Wanted wanted;
  wanted.attention = keep_layers;
  for (const MapRequest& request : requests) wanted = wanted | request.method->wanted;
  explain::Recorded recorded =
      explain::record(model_.network, photo.pixels, wanted, kernels::parse_backend(run_.attention));
  std::vector<Prediction> classes;
  if (recorded.output.logits.defined()) {
    const at::Tensor probabilities = model_.network.probabilities(recorded.output.logits)
                                         .detach()
                                         .to(at::kCPU, at::kFloat)
                                         .contiguous();
    classes = chosen(probabilities, model_.labels, work_.classes);
    photo.likeliest = likeliest(probabilities, model_.labels, kLikeliest);
  }
  if (keep_layers) photo.layers = layers_of(recorded);
  return maps_of(requests, classes, photo.pixels, recorded);
}

std::vector<PhotoMap> MapMaker::maps_of(const std::vector<MapRequest>& requests,
                                        const std::vector<Prediction>& classes,
                                        const at::Tensor& pixels,
                                        explain::Recorded& recorded) const {
  // In the order of the requests, whatever the order in which they are served.
  std::vector<std::vector<PhotoMap>> maps(requests.size());
  const auto read = [&](std::size_t i, const std::optional<Prediction>& of_class) {
    const MapRequest& request = requests[i];
    maps[i].push_back({request, request.method->read(recorded, request.options), of_class});
  };
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!requests[i].method->needs_class()) read(i, {});
  }
  for (const Prediction& one : classes) {
    if (recorded.wanted.gradients()) explain::take_gradients(model_.network, recorded, {one.index});
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].method->wanted.gradients()) read(i, one);
    }
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].method->probe == nullptr) continue;
    const std::vector<explain::Map> of_classes = probed(requests[i], pixels, classes);
    for (std::size_t k = 0; k < classes.size(); ++k) {
      maps[i].push_back({requests[i], of_classes[k], classes[k]});
    }
  }
  std::vector<PhotoMap> all;
  for (std::vector<PhotoMap>& of_request : maps) {
    std::move(of_request.begin(), of_request.end(), std::back_inserter(all));
  }
  return all;
}

std::vector<explain::Map> MapMaker::probed(const MapRequest& request, const at::Tensor& pixels,
                                           const std::vector<Prediction>& classes) const {
  const explain::Batching batching{run_.batch_size, [&](std::int64_t done, std::int64_t all) {
                                     if (!go_on_(request.name(), done, all)) throw Stopped();
                                   }};
  std::vector<std::int64_t> indices;
  indices.reserve(classes.size());
  for (const Prediction& one : classes) indices.push_back(one.index);
  return explain::probed_maps(*request.method, work_.probabilities, pixels, indices,
                              model_.network.config().patch, request.options, batching);
}

}  // namespace vitascope::app
