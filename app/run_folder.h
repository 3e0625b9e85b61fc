#pragma once

#include <optional>
#include <string>
#include <vector>

#include "vit/train/checkpoint.h"
#include "vit/train/trainer.h"
#include "vit/weights/model_directory.h"

/// \file
/// What a run of training leaves on disk: RUN opens as the best model; beside it lie the recipe, a
/// log and the checkpoints.
namespace vitascope::app {

/// A line of the log.
struct LogRow {
  std::int64_t epoch = 0;  ///< from 1
  std::int64_t step = 0;
  double loss = 0, accuracy = 0;  ///< of training
  train::Metrics validation;
  double rate = 0, images_per_second = 0, waiting = 0;
  double memory = 0;  ///< the most so far, in bytes
  bool best = false;
};

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

  /// Drops what the log says of epochs after the first `epochs`, which will come again.
  void cut_log(std::int64_t epochs);
  /// Adds a line to log.csv and log.jsonl.
  void log(const LogRow& row);

  /// Replaces the model.
  void write_model(const weights::Model& model) const;
  /// Writes adapter/adapter.safetensors.
  void write_adapter(const weights::Model& model) const;

  const std::string& path() const { return path_; }

 private:
  std::string checkpoints() const { return path_ + "/checkpoints"; }
  void write_log() const;

  std::string path_;
  std::vector<std::string> lines_;  ///< of log.jsonl
};

/// Where the model is and how to use it, a line.
/// \param what how the run ended
std::string done_line(const RunFolder& folder, const char* what);

/// Which layout can hold a model: transformers' where it can, else timm's, else our own.
/// \throws UsageError when none can
weights::Layout layout_for(const weights::Model& model);

}  // namespace vitascope::app
