#include "app/label_match.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "app/values.h"
#include "datasets/table.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

/// As many classes as one line may list.
constexpr std::size_t kMostListed = 20;

/// The only label for which `same` holds.
std::optional<std::int64_t> only(const std::vector<std::string>& labels,
                                 const std::function<bool(const std::string&)>& same) {
  const auto first = std::ranges::find_if(labels, same);
  if (first == labels.end() || std::any_of(first + 1, labels.end(), same)) return std::nullopt;
  return first - labels.begin();
}

std::string text_of(const datasets::Record& record, const char* column) {
  const auto value = record.values.find(column);
  return value != record.values.end() && value->is_string() ? value->get<std::string>() : "";
}

/// "'cat' (did you mean 'tabby cat'?)"
std::string unmatched(const std::string& name, const std::string& wanted,
                      const std::vector<std::string>& labels) {
  std::string text = in_quotes(name);
  if (wanted != name) text += " (mapped to " + in_quotes(wanted) + ")";
  if (std::ranges::count(labels, wanted) > 1) return text + " (several classes of the model)";
  const std::string near = nearest_name(wanted, labels);
  return near.empty() ? text : text + " (near " + in_quotes(near) + ")";
}

}  // namespace

LabelMap read_label_map(const std::string& path) {
  const datasets::Table table = [&] {
    try {
      return datasets::read_table(path);
    } catch (const InputError& error) {
      throw UsageError(error.what());
    }
  }();
  for (const char* column : {"data", "model"}) {
    if (std::ranges::find(table.columns, column) == table.columns.end())
      throw UsageError(fmt::format("{}: no column '{}'; a label map has the columns data and model",
                                   printable(path), column));
  }
  LabelMap map;
  for (const datasets::Record& record : table.records) {
    const std::string data = text_of(record, "data");
    const std::string model = text_of(record, "model");
    if (data.empty() || model.empty())
      throw UsageError(fmt::format("{}: line {}: expected a name for both data and model",
                                   printable(path), record.line));
    const auto [known, fresh] = map.emplace(data, model);
    if (!fresh && known->second != model)
      throw UsageError(
          fmt::format("{}: line {}: {} goes to {} already; a data label has one model label",
                      printable(path), record.line, in_quotes(data), in_quotes(known->second)));
  }
  return map;
}

std::optional<std::int64_t> find_label(const std::string& name,
                                       const std::vector<std::string>& labels) {
  if (std::ranges::find(labels, name) != labels.end())
    return only(labels, [&](const std::string& label) { return label == name; });
  const std::string lower = lower_case(name);
  return only(labels, [&](const std::string& label) { return lower_case(label) == lower; });
}

LabelMatch match_labels(const datasets::LabelledImages& images,
                        const std::vector<std::size_t>& samples,
                        const std::vector<std::string>& labels, const LabelMap& map) {
  std::vector<bool> used(images.classes.size());
  for (const std::size_t i : samples)
    for (const int label : images.samples[i].labels) used[static_cast<std::size_t>(label)] = true;
  LabelMatch match(images.classes.size());
  std::vector<std::string> missing;
  std::size_t missed = 0;
  for (std::size_t c = 0; c < match.size(); ++c) {
    if (!used[c]) continue;
    const std::string& name = images.classes[c];
    const auto mapped = map.find(name);
    const std::string& wanted = mapped == map.end() ? name : mapped->second;
    match[c] = find_label(wanted, labels);
    if (match[c]) continue;
    if (++missed <= kMostListed) missing.push_back(unmatched(name, wanted, labels));
  }
  if (missed == 0) return match;
  throw UsageError(fmt::format(
      "{} of the data's classes are no labels of the model: {}{}; --label-map FILE joins names",
      missed, fmt::join(missing, ", "), missed > kMostListed ? ", ..." : ""));
}

}  // namespace vitascope::app
