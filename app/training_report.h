#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/finetune_options.h"
#include "app/model_card.h"
#include "app/training_progress.h"
#include "datasets/labelled_images.h"

/// \file
/// What a run of `finetune` tells people beside its progress: the model card, and what is confused
/// with what.
namespace vitascope::app {

/// What a report is about. `options` must outlive it.
struct TrainingSubject {
  const FinetuneOptions& options;
  std::vector<OptionValue> changed;  ///< options that are not at their defaults
  std::shared_ptr<const datasets::LabelledImages> images;
  std::string fingerprint;  ///< of the data
  std::string folder;       ///< of the run
};

/// Writes README.md (the model card) and confusions.png into the run's folder, beside what its
/// progress writes. Of `quiet` runs nothing is printed but where the model is.
class TrainingReport {
 public:
  explicit TrainingReport(TrainingSubject subject);

  TrainingProgress& progress() { return progress_; }
  /// The model that the folder holds now, and its answers to the photos of validation.
  void describe(const weights::Model& model, Answers answers);
  bool described() const { return answers_.has_value(); }
  /// The run is over, one way or another.
  void end(train::Ending ending, std::int64_t step);

 private:
  void write_card() const;
  std::string closing_text(train::Ending ending) const;
  bool quiet() const { return subject_.options.run.quiet; }

  TrainingSubject subject_;
  TrainingProgress progress_;
  std::optional<ModelFacts> facts_{};
  std::optional<Answers> answers_{};  ///< of the kept model
  Evaluation evaluation_{};           ///< of them
  bool confusions_ = false;           ///< confusions.png is there
};

}  // namespace vitascope::app
