#include "app/evaluation_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "app/drawing/caption.h"
#include "app/drawing/chart.h"
#include "app/drawing/heat_map.h"
#include "app/drawing/sheet.h"
#include "app/drawing/theme.h"
#include "app/output.h"
#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

/// Edge of the square in which a photo of the contact sheet stands.
constexpr int kPanel = 400;
/// The same where three stand in a row for each of several confusions.
constexpr int kExample = 320;
/// Photos of each confusion.
constexpr std::size_t kExamples = 3;

/// The photo in the middle of a square, so that captions stand in one line.
drawing::Canvas in_square(const image::Picture& picture, int edge) {
  const drawing::Canvas photo(picture);
  const image::Size size = drawing::fitted(picture.size, {edge, edge});
  drawing::Canvas square({edge, edge}, drawing::kPaper);
  square.draw(photo.resized(size), (edge - size.width) / 2, (edge - size.height) / 2);
  return square;
}

/// A mistake: the photo, the answer, the truth and the file.
/// \throws InputError when the photo can't be decoded again
drawing::Panel panel(const EvaluationResult& result, const Mistake& mistake,
                     const datasets::LabelledImages& images, const image::DecodeOptions& decode,
                     const drawing::Font& font, int edge) {
  const datasets::Sample& sample = images.samples[result.answers.samples[mistake.photo]];
  const image::Picture picture = datasets::decode(images, sample, decode);
  drawing::Caption caption;
  caption.headline = fmt::format("{} {:.3f}", printable(result.answers.label(mistake.prediction)),
                                 mistake.probability);
  caption.lines = {fmt::format("is {} ({:.3f})", printable(result.answers.label(mistake.truth)),
                               mistake.truth_probability),
                   printable(name_in_folder(result.answers.paths[mistake.photo]))};
  return {"", drawing::with_caption(in_square(picture, edge), caption, font)};
}

drawing::Sheet sheet_of_photos(std::string title, int edge) {
  drawing::Sheet sheet;
  sheet.title = std::move(title);
  sheet.notes = {"what was predicted, with its probability; what it is; the file"};
  sheet.panel_width = edge;
  return sheet;
}

/// The most confident mistakes of one kind, under what they are.
drawing::Sheet examples(const EvaluationResult& result, const metrics::Confusion& pair,
                        const datasets::LabelledImages& images, const image::DecodeOptions& decode,
                        const drawing::Font& font) {
  drawing::Sheet sheet = sheet_of_photos(
      fmt::format("{} taken for {}: {} photo{}", printable(result.answers.label(pair.label)),
                  printable(result.answers.label(pair.predicted)), pair.count,
                  pair.count == 1 ? "" : "s"),
      kExample);
  sheet.columns = kExamples;
  sheet.panels.reserve(kExamples);
  for (const Mistake& mistake : result.evaluation.mistakes) {
    if (mistake.truth != pair.label || mistake.prediction != pair.predicted) continue;
    if (sheet.panels.size() == kExamples) break;
    try {
      sheet.panels.push_back(panel(result, mistake, images, decode, font, kExample));
    } catch (const InputError& error) {
      output::warning(std::string(error.what()) + "; left out of the examples");
    }
  }
  // Empty places, so that all rows are as wide.
  const drawing::Panel nothing{"", drawing::Canvas({kExample, kExample}, drawing::kPaper)};
  if (!sheet.panels.empty()) sheet.panels.resize(kExamples, nothing);
  return sheet;
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
  drawing::Sheet sheet = sheet_of_photos(
      fmt::format("The most confident mistakes of {}", printable(result.answers.model)), kPanel);
  sheet.panels.reserve(result.evaluation.mistakes.size());
  for (const Mistake& mistake : result.evaluation.mistakes) {
    sheet.panels.push_back(panel(result, mistake, images, decode, font, kPanel));
  }
  return drawing::draw(sheet, font);
}

std::optional<drawing::Canvas> draw_confused(const EvaluationResult& result, std::size_t pairs,
                                             const datasets::LabelledImages& images,
                                             const image::DecodeOptions& decode,
                                             const drawing::Font& font) {
  if (!result.evaluation.confusion) return std::nullopt;
  std::vector<drawing::Canvas> sheets;
  sheets.reserve(pairs);
  for (const metrics::Confusion& pair :
       metrics::most_confused(*result.evaluation.confusion, pairs)) {
    drawing::Sheet sheet = examples(result, pair, images, decode, font);
    if (!sheets.empty()) sheet.notes.clear();  // said once
    if (!sheet.panels.empty()) sheets.push_back(drawing::draw(sheet, font));
  }
  if (sheets.empty()) return std::nullopt;
  return drawing::stacked(sheets);
}

}  // namespace vitascope::app
