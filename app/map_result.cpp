#include "app/map_result.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/map_pictures.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

using Json = nlohmann::ordered_json;

/// The cell of the greatest value, the first of equal ones.
struct Peak {
  int row = 0, column = 0;
  image::Rectangle pixels;
};

Peak peak_of(const PhotoMap& one, const image::View& view) {
  const int rows = static_cast<int>(one.map.values.size(0));
  const int columns = static_cast<int>(one.map.values.size(1));
  const int at = static_cast<int>(one.map.values.flatten().argmax().item<std::int64_t>());
  return {at / columns, at % columns, view.cell(at / columns, at % columns, rows, columns)};
}

Json class_json(const std::optional<Prediction>& one) {
  if (!one) return nullptr;
  return {{"index", one->index}, {"label", one->label}, {"probability", one->probability}};
}

template <typename Number>
Json number_json(const std::optional<Number>& number) {
  return number ? Json(*number) : Json();
}

Json map_json(const PhotoMap& one, const image::View& view) {
  const Peak peak = peak_of(one, view);
  return {
      {"method", one.request.name()},
      {"layer", number_json(one.map.layer)},
      {"head", number_json(one.map.head)},
      {"class", class_json(one.of_class)},
      {"grid", {one.map.values.size(0), one.map.values.size(1)}},
      {"least", one.map.values.min().item<float>()},
      {"greatest", one.map.values.max().item<float>()},
      {"seconds", one.seconds},
      {"peak",
       {{"row", peak.row},
        {"column", peak.column},
        {"pixels", {peak.pixels.left, peak.pixels.top, peak.pixels.right, peak.pixels.bottom}}}}};
}

}  // namespace

std::string photo_lines(const ExplainedPhoto& photo, const std::string& file) {
  const std::string prediction = prediction_text(photo);
  std::string text = printable(photo.picture.path) + (prediction.empty() ? "" : "  " + prediction);
  if (!file.empty()) text += "  -> " + printable(file);
  text += "\n";
  for (const PhotoMap& one : photo.maps) {
    const Peak peak = peak_of(one, photo.view);
    text += fmt::format("  {}: most at {:.0f},{:.0f} to {:.0f},{:.0f}\n", map_text(one),
                        peak.pixels.left, peak.pixels.top, peak.pixels.right, peak.pixels.bottom);
  }
  return text;
}

nlohmann::ordered_json photo_json(const ExplainedPhoto& photo, const std::string& file) {
  Json maps = Json::array();
  for (const PhotoMap& one : photo.maps) maps.push_back(map_json(one, photo.view));
  return {{"path", photo.picture.path},
          {"output", file},
          {"prediction", class_json(photo.predicted())},
          {"maps", maps}};
}

}  // namespace vitascope::app
