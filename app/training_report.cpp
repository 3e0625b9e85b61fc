#include "app/training_report.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <utility>

#include "app/drawing/write_picture.h"
#include "app/evaluation_pictures.h"
#include "app/evaluation_result.h"
#include "app/model_use.h"
#include "app/output.h"
#include "datasets/split.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

constexpr std::size_t kConfusions = 5;

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
    : subject_(std::move(subject)),
      progress_(subject_.folder,
                {.epochs = subject_.options.epochs,
                 .photos = count_of(*subject_.images, datasets::Split::train),
                 .validation = count_of(*subject_.images, datasets::Split::validation)},
                quiet()) {}

void TrainingReport::describe(const weights::Model& model, Answers answers) {
  facts_ = facts_of(model);
  answers_ = std::move(answers);
  evaluation_ = evaluate(*answers_, evaluation_options());
  const EvaluationSubject of{
      subject_.options.data,         subject_.images->source, "validation", 0, false,
      evaluation_options().bootstrap};
  const std::string path = subject_.folder + "/confusions.png";
  const auto examples = draw_confused(
      {of, *answers_, evaluation_}, kConfusions, *subject_.images,
      {subject_.options.max_pixels, subject_.options.allow_truncated}, progress_.font());
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
                         .rows = progress_.rows(),
                         .answers = *answers_,
                         .evaluation = evaluation_,
                         .confusions = confusions_}));
}

void TrainingReport::end(train::Ending ending, std::int64_t step) {
  progress_.end(ending, step, "vitascope finetune ...");
  if (ending == train::Ending::interrupted) return;
  write_card();  // with all epochs
  output::print(quiet() ? printable(subject_.folder) + "\n" : closing_text(ending));
}

std::string TrainingReport::closing_text(train::Ending ending) const {
  const LogRow* best = best_row(progress_.rows());
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
