#include "app/map_pictures.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "app/drawing/caption.h"
#include "app/drawing/sheet.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

drawing::CellMap cells_of(const explain::Map& map) {
  return {static_cast<int>(map.values.size(0)), static_cast<int>(map.values.size(1)),
          explain::numbers<float>(map.values)};
}

/// The range of all maps together, clipped as each alone would be.
drawing::Range range_of_all(const ExplainedPhoto& photo, const drawing::OverlayStyle& style) {
  std::vector<float> all;
  for (const PhotoMap& one : photo.maps) {
    const drawing::CellMap cells = cells_of(one.map);
    all.insert(all.end(), cells.values.begin(), cells.values.end());
  }
  return drawing::percentile_range(std::move(all), style.low_percentile, style.high_percentile);
}

std::string class_text(const Prediction& one) {
  return fmt::format("{} {:.3f}", printable(one.label), one.probability);
}

std::string photo_text(const ExplainedPhoto& photo) {
  const std::string& path = photo.picture.path;
  return printable(path.substr(path.find_last_of('/') + 1));
}

drawing::Canvas draw_one(const ExplainedPhoto& photo, const PhotoMap& one, const MapStyle& style,
                         const drawing::Font& font) {
  const drawing::Overlay overlay =
      drawing::draw_overlay(photo.picture, cells_of(one.map), photo.view, style.overlay);
  if (!style.caption) return overlay.picture;
  drawing::Caption caption;
  caption.headline = prediction_text(photo);
  caption.lines = drawing::notes_on(overlay, style.overlay);
  caption.lines.insert(caption.lines.begin(), map_text(one));
  caption.scale = drawing::scale_of(overlay, style.overlay.colours);
  return drawing::with_caption(overlay.picture, caption, font);
}

/// What stands under a panel.
std::string panel_label(const ExplainedPhoto& photo, const PhotoMap& one) {
  const bool other_class = one.of_class && one.of_class->index != photo.predicted()->index;
  return other_class ? one.request.label + ", " + class_text(*one.of_class) : one.request.label;
}

drawing::Canvas draw_side_by_side(const ExplainedPhoto& photo, MapStyle style,
                                  const drawing::Font& font) {
  drawing::Sheet sheet;
  sheet.title = photo_text(photo);
  const std::string prediction = prediction_text(photo);
  if (!prediction.empty()) sheet.title += ": " + prediction;
  if (style.shared_range) {
    style.overlay.range = range_of_all(photo, style.overlay);
    sheet.notes.emplace_back("one scale for all");
  } else {
    sheet.notes.emplace_back("each map on a scale of its own: shapes compare, brightness does not");
  }
  for (const PhotoMap& one : photo.maps) {
    const drawing::Overlay overlay =
        drawing::draw_overlay(photo.picture, cells_of(one.map), photo.view, style.overlay);
    sheet.panels.push_back({panel_label(photo, one), overlay.picture});
    if (style.shared_range) sheet.scale = drawing::scale_of(overlay, style.overlay.colours);
  }
  return drawing::draw(sheet, font);
}

}  // namespace

std::string prediction_text(const ExplainedPhoto& photo) {
  return photo.predicted() ? class_text(*photo.predicted()) : "";
}

std::string map_text(const PhotoMap& map) {
  std::string text = map.request.description;
  if (map.of_class) text += ", for " + class_text(*map.of_class);
  return text;
}

drawing::Canvas draw_maps(const ExplainedPhoto& photo, const MapStyle& style,
                          const drawing::Font& font) {
  if (photo.maps.size() == 1) return draw_one(photo, photo.maps.front(), style, font);
  return draw_side_by_side(photo, style, font);
}

}  // namespace vitascope::app
