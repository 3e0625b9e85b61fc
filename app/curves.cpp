#include "app/curves.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "app/drawing/chart.h"

namespace vitascope::app {
namespace {

constexpr image::Size kSize{1000, 460};    ///< of one chart
constexpr const char* kCider = "cider_d";  ///< no share: has a chart of its own

using Figure = std::function<double(const LogRow&)>;

drawing::Series series(std::string name, const std::vector<LogRow>& rows, const Figure& figure) {
  drawing::Series result{std::move(name), {}};
  result.points.reserve(rows.size());
  for (const LogRow& row : rows) {
    result.points.push_back({static_cast<double>(row.epoch), figure(row)});
  }
  return result;
}

Figure of_validation(std::string name) {
  return [name = std::move(name)](const LogRow& row) {
    const auto found = row.validation.find(name);
    return found == row.validation.end() ? std::nan("") : found->second;
  };
}

drawing::LineChart chart(std::string title, std::string unit, const std::vector<LogRow>& rows) {
  drawing::LineChart result;
  result.title = std::move(title);
  result.x = {.label = "epoch", .whole = true};
  if (rows.size() > 1) {
    result.x.range = {static_cast<double>(rows.front().epoch),
                      static_cast<double>(rows.back().epoch)};
  }
  result.y = {.label = std::move(unit)};
  if (const LogRow* best = best_row(rows)) {
    result.marks = {{static_cast<double>(best->epoch), fmt::format("best: epoch {}", best->epoch)}};
  }
  return result;
}

}  // namespace

drawing::Canvas draw_curves(const std::vector<LogRow>& rows, const drawing::Font& font) {
  drawing::LineChart loss = chart("Loss", "mean of a photo; training as it was optimised", rows);
  loss.series = {series("training", rows, [](const LogRow& row) { return row.loss; }),
                 series("validation", rows, of_validation("loss"))};
  drawing::LineChart right = chart("Accuracy", "share that is right", rows);
  right.series = {series("training", rows, [](const LogRow& row) { return row.accuracy; }),
                  series("validation", rows, of_validation("accuracy"))};
  std::set<std::string> others;
  for (const LogRow& row : rows) {
    for (const auto& [name, value] : row.validation) others.insert(name);
  }
  for (const std::string& name : others) {
    if (name == "loss" || name == "accuracy" || name == kCider) continue;
    right.series.push_back(series(name + ", validation", rows, of_validation(name)));
  }
  drawing::LineChart rate = chart("Learning rate", "of the last step of the epoch", rows);
  rate.series = {series("rate", rows, [](const LogRow& row) { return row.rate; })};
  std::vector<drawing::Canvas> all{drawing::draw(loss, kSize, font),
                                   drawing::draw(right, kSize, font)};
  if (others.contains(kCider)) {
    drawing::LineChart cider = chart("CIDEr-D", "of validation, from 0 to 10", rows);
    cider.series = {series("validation", rows, of_validation(kCider))};
    all.push_back(drawing::draw(cider, kSize, font));
  }
  all.push_back(drawing::draw(rate, kSize, font));
  return drawing::stacked(all);
}

}  // namespace vitascope::app
