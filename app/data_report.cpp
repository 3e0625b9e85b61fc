#include "app/data_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/output.h"
#include "datasets/duplicates.h"
#include "datasets/split.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

using datasets::CheckReport;
using datasets::DuplicateKind;
using datasets::Finding;
using datasets::LabelledImages;
using datasets::Split;
using datasets::SplitCounts;
using Json = nlohmann::ordered_json;

constexpr Split kSplits[] = {Split::train, Split::validation, Split::test, Split::none};

std::size_t count(const SplitCounts& counts, Split split) {
  return counts[static_cast<std::size_t>(split)];
}

/// The splits that hold anything.
std::vector<Split> used_splits(const LabelledImages& images) {
  const SplitCounts all = datasets::count_splits(images);
  std::vector<Split> used;
  std::copy_if(std::begin(kSplits), std::end(kSplits), std::back_inserter(used),
               [&](Split split) { return count(all, split) > 0; });
  return used;
}

std::string row(const std::string& name, int width, const SplitCounts& counts,
                const std::vector<Split>& splits) {
  const int padding = std::max(0, width - output::display_width(name));
  std::string text =
      fmt::format("  {}{}", name, std::string(static_cast<std::size_t>(padding), ' '));
  for (const Split split : splits) text += fmt::format("  {:>10}", count(counts, split));
  return text + "\n";
}

const char* kind_name(DuplicateKind kind) {
  switch (kind) {
    case DuplicateKind::same_use:
      return "same use";
    case DuplicateKind::splits:
      return "different splits";
    case DuplicateKind::labels:
      return "different labels";
  }
  throw InternalError("kind_name: unknown kind");
}

/// "train, cat" of a sample, as far as it is known.
std::string use_of(const LabelledImages& images, const datasets::Sample& sample) {
  std::string text = datasets::split_name(sample.split);
  for (const int label : sample.labels) text += ", " + printable(images.classes[label]);
  return text;
}

std::string list_text(const LabelledImages& images, const char* title,
                      const std::vector<Finding>& findings) {
  if (findings.empty()) return "";
  std::string text = fmt::format("{}: {}\n", title, findings.size());
  for (const Finding& finding : findings)
    text += fmt::format("  {}: {}\n", printable(images.samples[finding.sample].path),
                        printable(finding.message));
  return text;
}

std::string duplicates_text(const LabelledImages& images, const CheckReport& report) {
  if (report.duplicates.empty()) return "";
  std::string text = fmt::format("duplicates: {} groups\n", report.duplicates.size());
  for (const auto& group : report.duplicates) {
    text += fmt::format("  {}:\n", kind_name(datasets::duplicate_kind(images, group)));
    for (const std::size_t i : group)
      text += fmt::format("    {} ({})\n", printable(images.samples[i].path),
                          use_of(images, images.samples[i]));
  }
  return text;
}

Json list_json(const LabelledImages& images, const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings)
    list.push_back({{"path", images.samples[finding.sample].path}, {"message", finding.message}});
  return list;
}

Json counts_json(const SplitCounts& counts) {
  Json object;
  for (const Split split : kSplits) object[datasets::split_name(split)] = count(counts, split);
  return object;
}

Json duplicates_json(const LabelledImages& images, const CheckReport& report) {
  Json list = Json::array();
  for (const auto& group : report.duplicates) {
    Json members = Json::array();
    for (const std::size_t i : group) {
      const datasets::Sample& sample = images.samples[i];
      Json labels = Json::array();
      for (const int label : sample.labels) labels.push_back(images.classes[label]);
      members.push_back({{"path", sample.path},
                         {"split", datasets::split_name(sample.split)},
                         {"labels", labels}});
    }
    list.push_back(
        {{"kind", kind_name(datasets::duplicate_kind(images, group))}, {"pictures", members}});
  }
  return list;
}

}  // namespace

std::string describe_data(const LabelledImages& images) {
  const std::vector<Split> splits = used_splits(images);
  std::string text = fmt::format("{}: {} pictures, {} classes{}\n", printable(images.source),
                                 images.samples.size(), images.classes.size(),
                                 images.multi_label ? ", several may hold for one picture" : "");
  std::vector<std::string> names;
  names.reserve(images.classes.size());
  int width = output::display_width("pictures");
  for (const std::string& name : images.classes) {
    names.push_back(printable(name));
    width = std::max(width, output::display_width(names.back()));
  }
  text += fmt::format("  {:<{}}", "", width);
  for (const Split split : splits) text += fmt::format("  {:>10}", datasets::split_name(split));
  text += "\n";
  const std::vector<SplitCounts> counts = datasets::count_classes(images);
  for (std::size_t c = 0; c < names.size(); ++c) text += row(names[c], width, counts[c], splits);
  return text + row("pictures", width, datasets::count_splits(images), splits);
}

std::string findings_text(const LabelledImages& images, const CheckReport& report) {
  return list_text(images, "broken", report.broken) + list_text(images, "damaged", report.damaged) +
         list_text(images, "tiny", report.tiny) +
         list_text(images, "named as another format", report.misnamed) +
         duplicates_text(images, report);
}

std::string data_report_text(const LabelledImages& images, const CheckReport& report) {
  std::string text = describe_data(images);
  for (const std::string& note : images.notes) text += fmt::format("note: {}\n", printable(note));
  for (const std::string& line : datasets::uneven_classes(images))
    text += fmt::format("uneven: {}\n", line);
  text += findings_text(images, report);
  return text + fmt::format("checked {} of {} pictures: {} broken\n", report.checked,
                            images.samples.size(), report.broken.size());
}

std::string data_report_json(const LabelledImages& images, const CheckReport& report) {
  Json classes = Json::array();
  const std::vector<SplitCounts> counts = datasets::count_classes(images);
  for (std::size_t c = 0; c < counts.size(); ++c) {
    Json entry = counts_json(counts[c]);
    entry["name"] = images.classes[c];
    classes.push_back(std::move(entry));
  }
  const Json object{{"source", images.source},
                    {"multi_label", images.multi_label},
                    {"pictures", images.samples.size()},
                    {"checked", report.checked},
                    {"interrupted", report.interrupted},
                    {"splits", counts_json(datasets::count_splits(images))},
                    {"classes", classes},
                    {"notes", images.notes},
                    {"uneven", datasets::uneven_classes(images)},
                    {"broken", list_json(images, report.broken)},
                    {"damaged", list_json(images, report.damaged)},
                    {"tiny", list_json(images, report.tiny)},
                    {"misnamed", list_json(images, report.misnamed)},
                    {"duplicates", duplicates_json(images, report)}};
  return output::json_line(object);
}

}  // namespace vitascope::app
