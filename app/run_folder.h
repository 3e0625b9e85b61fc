#pragma once

#include <optional>
#include <string>

#include "vit/train/checkpoint.h"
#include "vit/weights/model_directory.h"

/// \file
/// What a run of training leaves on disk: RUN opens as the best model; beside it lie the recipe
/// and the checkpoints; `run_log` and `training_report` add what people read.
namespace vitascope::app {

/// The folder of one run.
class RunFolder {
 public:
  /// Makes the folder where there is none.
  /// \param resume go on with what is there
  /// \throws UsageError when it holds anything and neither `resume` nor `force` is said, or can't
  ///         be written
  RunFolder(std::string path, bool resume, bool force);

  /// The newest checkpoint; nothing when the run has none yet.
  /// \throws UsageError when it is damaged, naming the part
  std::optional<train::Checkpoint> checkpoint() const;

  void save(const train::Checkpoint& checkpoint, std::int64_t step) const;

  /// Writes the recipe as it is run.
  void write_recipe(const std::string& text) const;

  /// Replaces the model.
  void write_model(const weights::Model& model) const;
  /// Writes adapter/adapter.safetensors.
  void write_adapter(const weights::Model& model) const;

  const std::string& path() const { return path_; }

 private:
  std::string checkpoints() const { return path_ + "/checkpoints"; }

  std::string path_;
};

/// Whether a layout can hold a model.
bool layout_fits(const weights::Model& model, weights::Layout layout);

/// Which layout can hold a model: transformers' where it can, else timm's, else our own.
/// \throws UsageError when none can
weights::Layout layout_for(const weights::Model& model);

}  // namespace vitascope::app
