#include "app/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"
#include "vit/train/lora.h"
#include "vit/weights/saved_layout.h"

namespace vitascope::app {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kLargestLog = 64u << 20;

std::string text_of(const LogRow& row) {
  OrderedJson json{{"epoch", row.epoch},
                   {"step", row.step},
                   {"train_loss", row.loss},
                   {"train_accuracy", row.accuracy}};
  for (const auto& [name, value] : row.validation) json["val_" + name] = value;
  json["rate"] = row.rate;
  json["images_per_second"] = row.images_per_second;
  json["waiting"] = row.waiting;
  json["peak_memory"] = row.memory;
  json["best"] = row.best;
  return json.dump();
}

}  // namespace

RunFolder::RunFolder(std::string path, bool resume, bool force) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  const std::string shown = printable(path_);
  try {
    if (fs::exists(path_) && !fs::is_directory(path_)) {
      throw UsageError(shown + " is a file: expected the name of a folder");
    }
    if (!resume && !force && fs::exists(path_) && !fs::is_empty(path_)) {
      throw UsageError(
          fmt::format("{} holds something already: --resume goes on with a run, "
                      "--force begins it anew, or choose another folder",
                      shown));
    }
    fs::create_directories(checkpoints());
    if (!resume) {
      for (const std::string& old : train::checkpoints_in(checkpoints())) fs::remove(old);
    }
  } catch (const fs::filesystem_error& error) {
    throw UsageError(fmt::format("{}: can't be written: {}", shown, error.code().message()));
  }
  check_writable(path_ + "/log.jsonl", /*force=*/true);
}

std::optional<train::Checkpoint> RunFolder::checkpoint() const {
  try {
    return train::read_newest_checkpoint(checkpoints());
  } catch (const InputError& error) {
    throw UsageError(error.what());
  }
}

void RunFolder::save(const train::Checkpoint& checkpoint, std::int64_t step) const {
  train::write_checkpoint(checkpoints(), checkpoint, step);
}

void RunFolder::write_recipe(const std::string& text) const {
  write_file(path_ + "/recipe.yaml", /*force=*/true, text);
}

void RunFolder::cut_log(std::int64_t epochs) {
  lines_.clear();
  const std::string path = path_ + "/log.jsonl";
  if (epochs > 0 && fs::exists(path)) {
    std::istringstream log(read_file(path, kLargestLog));
    for (std::string line; std::getline(log, line);) {
      if (std::ssize(lines_) < epochs) lines_.push_back(line);
    }
  }
  write_log();
}

void RunFolder::log(const LogRow& row) {
  lines_.push_back(text_of(row));
  write_log();
}

/// Whole files each time: a log is small, and a torn line helps nobody.
void RunFolder::write_log() const {
  std::string jsonl;
  std::string csv;
  for (const std::string& line : lines_) {
    jsonl += line;
    jsonl += '\n';
    const OrderedJson json = OrderedJson::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) continue;
    std::string header;
    std::string values;
    for (const auto& [key, value] : json.items()) {
      if (!header.empty()) {
        header += ',';
        values += ',';
      }
      header += key;
      values += value.dump();
    }
    if (csv.empty()) csv = header + '\n';
    csv += values;
    csv += '\n';
  }
  write_file(path_ + "/log.jsonl", /*force=*/true, jsonl);
  write_file(path_ + "/log.csv", /*force=*/true, csv);
}

void RunFolder::write_model(const weights::Model& model) const {
  weights::update_model(model, path_, layout_for(model));
}

void RunFolder::write_adapter(const weights::Model& model) const {
  fs::create_directories(path_ + "/adapter");
  train::save_adapter({model.network, model.labels}, path_ + "/adapter/adapter.safetensors",
                      /*force=*/true);
}

std::string done_line(const RunFolder& folder, const char* what) {
  return fmt::format("{} {}: vitascope classify PHOTO --model {}\n", what, printable(folder.path()),
                     printable(folder.path()));
}

weights::Layout layout_for(const weights::Model& model) {
  for (const weights::Layout layout : {weights::Layout::transformers, weights::Layout::timm}) {
    try {
      weights::saved_layout(model, layout);
      return layout;
    } catch (const UsageError&) {
      // The next one may hold it.
    }
  }
  weights::vitascope_layout(model);
  return weights::Layout::vitascope;
}

}  // namespace vitascope::app
