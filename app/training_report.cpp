#include "app/training_report.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <utility>

#include "app/curves.h"
#include "app/drawing/write_picture.h"
#include "app/evaluation_pictures.h"
#include "app/evaluation_result.h"
#include "app/measure.h"
#include "app/model_use.h"
#include "app/output.h"
#include "datasets/split.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

/// When the time that all will take is told, so that a person knows it within 20 s; shorter runs
/// need no such line.
constexpr double kEstimateSeconds = 8;
constexpr std::size_t kConfusions = 5;

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::int64_t count_of(const datasets::LabelledImages& images, datasets::Split split) {
  return static_cast<std::int64_t>(datasets::samples_of(images, split).size());
}

/// All mistakes are kept: the examples of confusions are chosen among them.
EvaluationOptions evaluation_options() {
  EvaluationOptions options;
  options.mistakes = std::numeric_limits<std::size_t>::max();
  return options;
}

}  // namespace

TrainingReport::TrainingReport(TrainingSubject subject)
    : subject_(std::move(subject)), font_(drawing::Font::find()), log_(subject_.folder) {
  if (!font_.present() && !quiet()) output::warning(font_.warning());
}

void TrainingReport::begin(std::int64_t epochs, std::int64_t photos) {
  log_.begin(epochs);
  const RunSize size{.epochs = subject_.options.epochs,
                     .photos = count_of(*subject_.images, datasets::Split::train),
                     .validation = count_of(*subject_.images, datasets::Split::validation)};
  estimate_.emplace(size, epochs, photos);
  progress_.emplace(static_cast<std::size_t>(estimate_->total()), quiet());
  begin_ = epoch_begin_ = last_step_ = Clock::now();
}

void TrainingReport::step(const train::StepReport& report) {
  const Clock::time_point now = Clock::now();
  estimate_->trained(report.samples, seconds_between(last_step_, now));
  last_step_ = now;
  if (!estimated_ && seconds_between(begin_, now) >= kEstimateSeconds) {
    estimated_ = true;
    progress_->clear();
    if (!quiet()) output::note(estimate_->first_estimate());
  }
  progress_->show(static_cast<std::size_t>(estimate_->done()),
                  [this] { return estimate_->text(); });
}

void TrainingReport::validating(double waiting) {
  learning_ = seconds_between(epoch_begin_, Clock::now());
  waiting_ = waiting;
}

void TrainingReport::epoch(const train::EpochReport& report) {
  const auto samples = static_cast<double>(report.sums.samples);
  const LogRow row{.epoch = report.epoch + 1,
                   .step = report.step,
                   .loss = report.sums.loss / report.sums.weight,
                   .accuracy = static_cast<double>(report.sums.right) / samples,
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
  if (!quiet()) output::print(epoch_line(row));
}

void TrainingReport::log(LogRow row) {
  row.time = seconds_since_1970();
  log_.add(row);
}

std::string TrainingReport::epoch_line(const LogRow& row) const {
  std::string line =
      fmt::format("epoch {}/{}  loss {:.4f}  accuracy {:.3f}  validation:", row.epoch,
                  subject_.options.epochs, row.loss, row.accuracy);
  for (const auto& [name, value] : row.validation) line += fmt::format(" {} {:.4f}", name, value);
  return fmt::format("{}  rate {:.2e}  {:.1f} images/s  waiting {:.0f}%  {} left{}\n", line,
                     row.rate, row.images_per_second, 100 * row.waiting,
                     duration_text(estimate_->left().value_or(0)), row.best ? "  best" : "");
}

void TrainingReport::describe(const weights::Model& model, Answers answers) {
  facts_ = facts_of(model);
  answers_ = std::move(answers);
  evaluation_ = evaluate(*answers_, evaluation_options());
  const EvaluationSubject of{
      subject_.options.data,         subject_.images->source, "validation", 0, false,
      evaluation_options().bootstrap};
  const std::string path = subject_.folder + "/confusions.png";
  const auto examples =
      draw_confused({of, *answers_, evaluation_}, kConfusions, *subject_.images,
                    {subject_.options.max_pixels, subject_.options.allow_truncated}, font_);
  confusions_ = examples.has_value();
  if (examples) {
    drawing::write_picture(path, *examples, /*force=*/true);
  } else {
    std::filesystem::remove(path);  // of a model that was confused more
  }
  write_card();
}

void TrainingReport::write_card() const {
  write_file(subject_.folder + "/README.md", /*force=*/true,
             model_card({.folder = subject_.folder,
                         .base = base_model(subject_.options.model.model),
                         .method = subject_.options.method,
                         .facts = *facts_,
                         .images = *subject_.images,
                         .data = subject_.options.data,
                         .fingerprint = subject_.fingerprint,
                         .options = subject_.changed,
                         .seed = subject_.options.seed,
                         .resamples = evaluation_options().bootstrap.resamples,
                         .rows = log_.rows(),
                         .answers = *answers_,
                         .evaluation = evaluation_,
                         .confusions = confusions_}));
}

void TrainingReport::write_curves() const {
  drawing::write_picture(subject_.folder + "/curves.png", draw_curves(log_.rows(), font_),
                         /*force=*/true);
}

void TrainingReport::saved() {
  const Clock::time_point now = Clock::now();
  estimate_->paused(seconds_between(last_step_, now));
  epoch_begin_ += now - last_step_;
  last_step_ = now;
}

void TrainingReport::end(train::Ending ending, std::int64_t step) {
  progress_->clear();
  if (ending == train::Ending::interrupted) {
    output::note(
        fmt::format("saved after step {}; 'vitascope finetune ... --resume' goes on", step));
    return;
  }
  write_card();  // with all epochs
  output::print(quiet() ? printable(subject_.folder) + "\n" : closing_text(ending));
}

std::string TrainingReport::closing_text(train::Ending ending) const {
  const LogRow* best = best_row(log_.rows());
  const std::string folder = printable(subject_.folder);
  const std::string word = printable(shell_word(subject_.folder));
  const bool epochs = !is_frozen(subject_.options);
  std::string text = fmt::format(
      "\n{}: {} opens as the model{}\n",
      ending == train::Ending::early ? "no better epoch came, so it ended early" : "done", folder,
      epochs && best != nullptr ? fmt::format(" of epoch {}", best->epoch) : "");
  if (evaluation_.confusion) {
    const std::string confusions = confusions_text(*answers_, *evaluation_.confusion, kConfusions);
    text += confusions.empty() ? "no photo of validation was taken for another class\n"
                               : fmt::format("most often confused, of {} photos of validation\n{}",
                                             answers_->paths.size(), confusions);
    if (confusions_) text += fmt::format("  examples: {}/confusions.png\n", folder);
  }
  return text + fmt::format(
                    "use it   vitascope classify PHOTO --model {}\n"
                    "measure  vitascope evaluate --model {} --data {}\n"
                    "read     {}/README.md{}\n",
                    word, word, printable(shell_word(subject_.options.data)), folder,
                    epochs ? " and curves.png; tensorboard --logdir " + word : "");
}

}  // namespace vitascope::app
