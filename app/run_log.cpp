#include "app/run_log.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "vit/error.h"
#include "vit/file.h"
#include "vit/json_object.h"

namespace vitascope::app {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kLargestLog = 64u << 20;
constexpr int kMost = std::numeric_limits<int>::max();
constexpr std::string_view kValidation = "val_";

OrderedJson json_of(const LogRow& row) {
  OrderedJson json{{"epoch", row.epoch},
                   {"step", row.step},
                   {"train_loss", row.loss},
                   {"train_accuracy", row.accuracy}};
  for (const auto& [name, value] : row.validation) json[std::string(kValidation) + name] = value;
  json["rate"] = row.rate;
  json["images_per_second"] = row.images_per_second;
  json["waiting"] = row.waiting;
  json["peak_memory"] = row.memory;
  json["time"] = row.time;
  json["best"] = row.best;
  return json;
}

/// Keys of the row for a header, or its values.
std::string csv_line(const LogRow& row, bool header) {
  std::string line;
  const OrderedJson json = json_of(row);
  for (const auto& [key, value] : json.items()) {
    if (!line.empty()) line += ',';
    line += header ? key : value.dump();
  }
  return line + '\n';
}

}  // namespace

std::string log_line(const LogRow& row) { return json_of(row).dump(); }

LogRow parse_log_line(const std::string& line) {
  const Json json = parse_json(line, "log.jsonl");
  const JsonObject object(json, "log.jsonl");
  const auto number = [&](std::string_view key) {
    return object.number(key, std::numeric_limits<double>::quiet_NaN());
  };
  LogRow row{.epoch = object.integer("epoch", 1, kMost),
             .step = object.integer("step", 0, kMost),
             .loss = number("train_loss"),
             .accuracy = number("train_accuracy"),
             .rate = number("rate"),
             .images_per_second = number("images_per_second"),
             .waiting = number("waiting"),
             .memory = object.number("peak_memory", 0.0),
             .time = object.number("time", 0.0),
             .best = object.boolean("best", false)};
  for (const std::string& key : object.keys()) {
    if (key.starts_with(kValidation)) row.validation[key.substr(kValidation.size())] = number(key);
  }
  return row;
}

ScalarEvent scalars_of(const LogRow& row) {
  ScalarEvent event{.wall_time = row.time,
                    .step = row.epoch,
                    .values = {{"loss/train", row.loss},
                               {"accuracy/train", row.accuracy},
                               {"learning_rate", row.rate},
                               {"images_per_second", row.images_per_second},
                               {"waiting", row.waiting}}};
  for (const auto& [name, value] : row.validation) event.values[name + "/validation"] = value;
  return event;
}

const LogRow* best_row(const std::vector<LogRow>& rows) {
  const auto found =
      std::find_if(rows.rbegin(), rows.rend(), [](const LogRow& r) { return r.best; });
  return found == rows.rend() ? nullptr : &*found;
}

RunLog::RunLog(std::string folder) : folder_(std::move(folder)), events_(folder_) {}

void RunLog::begin(std::int64_t epochs) {
  rows_.clear();
  const std::string path = folder_ + "/log.jsonl";
  if (epochs > 0 && std::filesystem::exists(path)) {
    std::istringstream log(read_file(path, kLargestLog));
    for (std::string line; std::getline(log, line);) {
      try {
        const LogRow row = parse_log_line(line);
        if (row.epoch <= epochs) rows_.push_back(row);
      } catch (const InputError&) {  // edited by somebody: the run needs none of it
      }
    }
  }
  write();
  std::vector<ScalarEvent> events;
  events.reserve(rows_.size());
  for (const LogRow& row : rows_) events.push_back(scalars_of(row));
  events_.begin(events);
}

void RunLog::add(const LogRow& row) {
  rows_.push_back(row);
  write();
  events_.add(scalars_of(row));
}

/// Whole files each time: a log is small, and a torn line helps nobody.
void RunLog::write() const {
  std::string jsonl;
  std::string csv = rows_.empty() ? "" : csv_line(rows_.front(), /*header=*/true);
  for (const LogRow& row : rows_) {
    jsonl += log_line(row);
    jsonl += '\n';
    csv += csv_line(row, /*header=*/false);
  }
  write_file(folder_ + "/log.jsonl", /*force=*/true, jsonl);
  write_file(folder_ + "/log.csv", /*force=*/true, csv);
}

}  // namespace vitascope::app
