#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/drawing/text.h"
#include "app/finetune_options.h"
#include "app/model_card.h"
#include "app/progress.h"
#include "app/run_log.h"
#include "app/time_estimate.h"
#include "datasets/labelled_images.h"
#include "vit/train/trainer.h"

/// \file
/// What a run of training tells people: progress, a line an epoch, logs, curves, the model card,
/// and what is confused with what.
namespace vitascope::app {

/// What a report is about. `options` must outlive it.
struct TrainingSubject {
  const FinetuneOptions& options;
  std::vector<OptionValue> changed;  ///< options that are not at their defaults
  std::shared_ptr<const datasets::LabelledImages> images;
  std::string fingerprint;  ///< of the data
  std::string folder;       ///< of the run
};

/// Writes into the run's folder: log.jsonl, log.csv, an event file for TensorBoard, curves.png,
/// README.md (the model card) and confusions.png. Of `quiet` runs nothing is printed but where the
/// model is.
class TrainingReport {
 public:
  explicit TrainingReport(TrainingSubject subject);

  /// Training begins or goes on, with so much behind it.
  /// \param photos of the epoch under way
  void begin(std::int64_t epochs, std::int64_t photos);
  void step(const train::StepReport& report);
  /// Learning of this epoch is over; validation begins.
  /// \param waiting share of the time that was spent waiting for photos
  void validating(double waiting);
  /// The epoch is over.
  void epoch(const train::EpochReport& report);
  /// The same of training that knows no epochs.
  void log(LogRow row);
  /// The model that the folder holds now, and its answers to the photos of validation.
  void describe(const weights::Model& model, Answers answers);
  bool described() const { return answers_.has_value(); }
  /// A checkpoint was written, which is no time of learning.
  void saved();
  /// The run is over, one way or another.
  void end(train::Ending ending, std::int64_t step);

 private:
  using Clock = std::chrono::steady_clock;

  void write_card() const;
  void write_curves() const;
  std::string epoch_line(const LogRow& row) const;
  std::string closing_text(train::Ending ending) const;
  bool quiet() const { return subject_.options.run.quiet; }

  TrainingSubject subject_;
  drawing::Font font_;
  RunLog log_;
  std::optional<TimeEstimate> estimate_{};
  std::optional<Progress> progress_{};
  Clock::time_point begin_{}, epoch_begin_{}, last_step_{};
  double learning_ = 0;  ///< seconds of the epoch
  double waiting_ = 0;
  bool estimated_ = false;
  std::optional<ModelFacts> facts_{};
  std::optional<Answers> answers_{};  ///< of the kept model
  Evaluation evaluation_{};           ///< of them
  bool confusions_ = false;           ///< confusions.png is there
};

}  // namespace vitascope::app
