#include "app/run_folder.h"

#include <fmt/format.h>

#include <filesystem>

#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"
#include "vit/train/lora.h"
#include "vit/weights/saved_layout.h"

namespace vitascope::app {
namespace {

namespace fs = std::filesystem;

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

void RunFolder::write_model(const weights::Model& model) const {
  weights::update_model(model, path_, layout_for(model));
}

void RunFolder::write_adapter(const weights::Model& model) const {
  fs::create_directories(path_ + "/adapter");
  train::save_adapter({model.network, model.labels}, path_ + "/adapter/adapter.safetensors",
                      /*force=*/true);
}

bool layout_fits(const weights::Model& model, weights::Layout layout) {
  try {
    weights::saved_layout(model, layout);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

weights::Layout layout_for(const weights::Model& model) {
  for (const weights::Layout layout : {weights::Layout::transformers, weights::Layout::timm}) {
    if (layout_fits(model, layout)) return layout;
  }
  weights::vitascope_layout(model);
  return weights::Layout::vitascope;
}

}  // namespace vitascope::app
