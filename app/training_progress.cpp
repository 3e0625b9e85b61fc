#include "app/training_progress.h"

#include <fmt/format.h>

#include <utility>

#include "app/curves.h"
#include "app/drawing/write_picture.h"
#include "app/measure.h"
#include "app/output.h"

namespace vitascope::app {
namespace {

/// When the time that all will take is told, so that a person knows it within 20 s; shorter runs
/// need no such line.
constexpr double kEstimateSeconds = 8;

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

TrainingProgress::TrainingProgress(std::string folder, RunSize size, bool quiet)
    : folder_(std::move(folder)),
      size_(size),
      quiet_(quiet),
      font_(drawing::Font::find()),
      log_(folder_) {
  if (!font_.present() && !quiet_) output::warning(font_.warning());
}

void TrainingProgress::begin(std::int64_t epochs, std::int64_t samples) {
  log_.begin(epochs);
  estimate_.emplace(size_, epochs, samples);
  progress_.emplace(static_cast<std::size_t>(estimate_->total()), quiet_);
  begin_ = epoch_begin_ = last_step_ = Clock::now();
}

void TrainingProgress::step(const train::StepReport& report) {
  const Clock::time_point now = Clock::now();
  estimate_->trained(report.samples, seconds_between(last_step_, now));
  last_step_ = now;
  if (!estimated_ && seconds_between(begin_, now) >= kEstimateSeconds) {
    estimated_ = true;
    progress_->clear();
    if (!quiet_) output::note(estimate_->first_estimate());
  }
  progress_->show(static_cast<std::size_t>(estimate_->done()),
                  [this] { return estimate_->text(); });
}

void TrainingProgress::validating(double waiting) {
  learning_ = seconds_between(epoch_begin_, Clock::now());
  waiting_ = waiting;
}

void TrainingProgress::epoch(const train::EpochReport& report) {
  const auto samples = static_cast<double>(report.sums.samples);
  const LogRow row{
      .epoch = report.epoch + 1,
      .step = report.step,
      .loss = report.sums.loss / report.sums.weight,
      .accuracy = static_cast<double>(report.sums.right) / static_cast<double>(report.sums.answers),
      .validation = report.metrics,
      .rate = report.rate,
      .images_per_second = samples / learning_,
      .waiting = waiting_,
      .memory = static_cast<double>(peak_memory()),
      .best = report.best};
  log(row);
  write_curves();
  const Clock::time_point now = Clock::now();
  estimate_->ended_epoch(seconds_between(last_step_, now));
  epoch_begin_ = last_step_ = now;
  progress_->clear();
  if (!quiet_) output::print(epoch_line(row));
}

void TrainingProgress::log(LogRow row) {
  row.time = seconds_since_1970();
  log_.add(row);
}

std::string TrainingProgress::epoch_line(const LogRow& row) const {
  std::string line =
      fmt::format("epoch {}/{}  loss {:.4f}  accuracy {:.3f}  validation:", row.epoch, size_.epochs,
                  row.loss, row.accuracy);
  for (const auto& [name, value] : row.validation) line += fmt::format(" {} {:.4f}", name, value);
  return fmt::format("{}  rate {:.2e}  {:.1f} images/s  waiting {:.0f}%  {} left{}\n", line,
                     row.rate, row.images_per_second, 100 * row.waiting,
                     duration_text(estimate_->left().value_or(0)), row.best ? "  best" : "");
}

void TrainingProgress::saved() {
  const Clock::time_point now = Clock::now();
  estimate_->paused(seconds_between(last_step_, now));
  epoch_begin_ += now - last_step_;
  last_step_ = now;
}

void TrainingProgress::end(train::Ending ending, std::int64_t step, const std::string& command) {
  progress_->clear();
  if (ending != train::Ending::interrupted) return;
  output::note(fmt::format("saved after step {}; '{} --resume' goes on", step, command));
}

void TrainingProgress::write_curves() const {
  drawing::write_picture(folder_ + "/curves.png", draw_curves(log_.rows(), font_),
                         /*force=*/true);
}

}  // namespace vitascope::app
