#include "app/evaluation_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "app/drawing/caption.h"
#include "app/drawing/chart.h"
#include "app/drawing/heat_map.h"
#include "app/drawing/sheet.h"
#include "app/drawing/theme.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

/// Edge of the square in which a photo of the contact sheet stands.
constexpr int kPanel = 400;

/// The photo in the middle of a square, so that captions stand in one line.
drawing::Canvas in_square(const image::Picture& picture) {
  const drawing::Canvas photo(picture);
  const image::Size size = drawing::fitted(picture.size, {kPanel, kPanel});
  drawing::Canvas square({kPanel, kPanel}, drawing::kPaper);
  square.draw(photo.resized(size), (kPanel - size.width) / 2, (kPanel - size.height) / 2);
  return square;
}

drawing::Canvas panel(const EvaluationResult& result, const Mistake& mistake,
                      const image::Picture& picture, const drawing::Font& font) {
  drawing::Caption caption;
  caption.headline = fmt::format("{} {:.3f}", printable(result.answers.label(mistake.prediction)),
                                 mistake.probability);
  caption.lines = {fmt::format("is {} ({:.3f})", printable(result.answers.label(mistake.truth)),
                               mistake.truth_probability),
                   printable(name_in_folder(result.answers.paths[mistake.photo]))};
  return drawing::with_caption(in_square(picture), caption, font);
}

}  // namespace

drawing::Canvas draw_confusion(const EvaluationResult& result, const drawing::Font& font) {
  const ConfusionTable table = confusion_table(result);
  const std::size_t n = table.labels.size();
  drawing::HeatMap map;
  map.title = "Confusion: share of each true class (rows) by prediction (columns)";
  map.range = drawing::Range{0, 1};
  map.values.reserve(n * n);
  map.rows.reserve(n);
  map.columns.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::span<const std::int64_t> row = std::span(table.counts).subspan(i * n, n);
    const auto photos =
        static_cast<double>(std::accumulate(row.begin(), row.end(), std::int64_t{}));
    // A class that the data lack has no shares: its row stays white.
    // Two digits fit into a cell.
    for (const std::int64_t count : row)
      map.values.push_back(photos > 0 ? std::round(100 * static_cast<double>(count) / photos) / 100
                                      : std::numeric_limits<double>::quiet_NaN());
    // Names are too wide for columns, which are numbered as the rows are.
    map.rows.push_back(fmt::format("{}  {}", printable(table.labels[i]), i + 1));
    map.columns.push_back(std::to_string(i + 1));
  }
  return drawing::draw(map, std::clamp(300 + 56 * static_cast<int>(n), 700, 6000), font);
}

drawing::Canvas draw_reliability(const EvaluationResult& result, const drawing::Font& font) {
  drawing::LineChart chart;
  chart.title = "Reliability: " + printable(result.answers.model);
  chart.x = {"probability of the prediction", drawing::Range{0, 1}};
  chart.y = {"share that is right", drawing::Range{0, 1}};
  drawing::Series model;
  model.name = "this model";
  const std::vector<metrics::ReliabilityBin>& bins = result.evaluation.reliability;
  model.points.reserve(bins.size());
  for (const metrics::ReliabilityBin& bin : bins)
    if (bin.count > 0) model.points.push_back({bin.confidence, bin.accuracy});
  chart.series = {{"probabilities that mean what they say", {{0, 0}, {1, 1}}, true},
                  std::move(model)};
  return drawing::draw(chart, {900, 800}, font);
}

drawing::Canvas draw_mistakes(const EvaluationResult& result,
                              const datasets::LabelledImages& images,
                              const image::DecodeOptions& decode, const drawing::Font& font) {
  drawing::Sheet sheet;
  sheet.title = fmt::format("The most confident mistakes of {}", printable(result.answers.model));
  sheet.notes = {"what was predicted, with its probability; what it is; the file"};
  sheet.panel_width = kPanel;
  sheet.panels.reserve(result.evaluation.mistakes.size());
  for (const Mistake& mistake : result.evaluation.mistakes) {
    const datasets::Sample& sample = images.samples[result.answers.samples[mistake.photo]];
    sheet.panels.push_back(
        {"", panel(result, mistake, datasets::decode(images, sample, decode), font)});
  }
  return drawing::draw(sheet, font);
}

}  // namespace vitascope::app
