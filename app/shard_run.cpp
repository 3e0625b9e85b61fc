#include "app/shard_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/fixed_recipe.h"
#include "app/output.h"
#include "datasets/duplicates.h"
#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::app {

std::string model_key(const weights::Model& model, const ModelOptions& options) {
  std::vector<std::string> files = model.files;
  for (const std::string* file : {&options.labels, &options.adapter, &options.preprocessor})
    if (!file->empty()) files.push_back(*file);
  std::string key;
  for (const std::string& file : files) {
    const datasets::Fingerprint sum = datasets::fingerprint(MappedFile::open(file)->bytes());
    key += fmt::format("{}{}:{:08x}", key.empty() ? "" : " ", sum.length, sum.crc);
  }
  return key;
}

std::string shard_recipe(const std::string& recipe) {
  // Names of what the list and the model were made from may differ from machine to machine; their
  // contents are compared.
  return fixed_recipe(
      recipe, {"shard", "output", "force", "quiet", "verbose", "threads", "device", "inputs",
               "recursive", "data", "model", "labels", "adapter", "preprocessor", "label-map"});
}

ShardRun::ShardRun(const std::string& output, const PartHeader& header, bool force)
    : header_(header), part_(part_path(output, header.shard), header, force) {
  remaining_ = datasets::dealt(header.photos, header.batch_size, header.shard);
  share_ = remaining_.size();
  const std::size_t done = std::min(part_.photos(), share_);
  remaining_.erase(remaining_.begin(), remaining_.begin() + static_cast<std::ptrdiff_t>(done));
}

PhotoHooks ShardRun::hooks(std::function<Json(const PhotoResult&)> row) {
  PhotoHooks hooks;
  hooks.use = [this, row = std::move(row)](const PhotoResult& result) {
    add(row(result), result.photo.index, result.photo.path);
  };
  hooks.failed = [this](const datasets::Item& photo, const InputError& error) {
    add({{"error", bytes_json(error.message())}}, photo.index, photo.path);
  };
  hooks.batch_done = [this] {
    part_.append(batch_);
    batch_ = Json::array();
  };
  return hooks;
}

void ShardRun::add(Json row, std::size_t index, const std::string& path) {
  row["index"] = remaining_[index];
  row["path"] = bytes_json(path);
  batch_.push_back(std::move(row));
}

int ShardRun::finish(RunReport report, bool launched, bool quiet) const {
  report.failed = part_.failed() + header_.failed_inputs;
  const bool whole = part_.photos() >= share_;
  if (!quiet) {
    output::note(fmt::format("{} holds {} of its {} photos{}", printable(part_.path()),
                             part_.photos(), share_,
                             whole ? "" : "; the same command goes on there"));
  }
  // What came when all was done interrupts nothing.
  report.interrupted = report.interrupted && !whole;
  return launched && whole ? 0 : report.exit_status();
}

}  // namespace vitascope::app
