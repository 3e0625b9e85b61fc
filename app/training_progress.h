#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "app/drawing/text.h"
#include "app/progress.h"
#include "app/run_log.h"
#include "app/time_estimate.h"
#include "vit/train/trainer.h"

/// \file
/// What a run of training tells people while it goes on, whatever it trains: progress, a line an
/// epoch, logs, curves.
namespace vitascope::app {

/// Writes log.jsonl, log.csv, an event file for TensorBoard and curves.png into the run's folder.
class TrainingProgress {
 public:
  /// \param quiet nothing is printed
  TrainingProgress(std::string folder, RunSize size, bool quiet);

  /// Training begins or goes on, with so much behind it.
  /// \param samples of the epoch under way
  void begin(std::int64_t epochs, std::int64_t samples);
  void step(const train::StepReport& report);
  /// Learning of this epoch is over; validation begins.
  /// \param waiting share of the time that was spent waiting for samples
  void validating(double waiting);
  /// The epoch is over.
  void epoch(const train::EpochReport& report);
  /// The same of training that knows no epochs.
  void log(LogRow row);
  /// A checkpoint was written, which is no time of learning.
  void saved();
  /// No more progress comes; `ending` and `step` as the trainer has them.
  /// \param command that goes on with an interrupted run
  void end(train::Ending ending, std::int64_t step, const std::string& command);

  const std::vector<LogRow>& rows() const { return log_.rows(); }
  const drawing::Font& font() const { return font_; }

 private:
  using Clock = std::chrono::steady_clock;

  void write_curves() const;
  std::string epoch_line(const LogRow& row) const;

  std::string folder_;
  RunSize size_;
  bool quiet_;
  drawing::Font font_;
  RunLog log_;
  std::optional<TimeEstimate> estimate_{};
  std::optional<Progress> progress_{};
  Clock::time_point begin_{}, epoch_begin_{}, last_step_{};
  double learning_ = 0;  ///< seconds of the epoch
  double waiting_ = 0;
  bool estimated_ = false;
};

}  // namespace vitascope::app
