#include "app/head_run.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "app/finetune_data.h"
#include "app/head_training.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/run_folder.h"
#include "app/training_report.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

/// Features are computed once, so losing them to an interruption would hurt most: they lie in the
/// run's folder unless memory is asked for.
std::string cache_file(const FinetuneOptions& options) {
  return options.cache == "ram" ? "" : options.output + "/features.safetensors";
}

HeadTrainingOptions head_options(const FinetuneOptions& options,
                                 const datasets::LabelledImages& images) {
  HeadTrainingOptions result;
  result.features.run = options.run;
  result.features.photos.allow_truncated = options.allow_truncated;
  result.features.photos.max_pixels = options.max_pixels;
  result.features.cache = cache_file(options);
  result.head.loss = loss_options(options, images.multi_label);
  result.head.loss.class_weights = class_weights(options, images);
  if (options.rate) result.head.rates = {*options.rate};
  result.head.seed = options.seed;
  result.on_bad_image = on_bad_image(options);
  return result;
}

/// What was tried, in words.
std::string summary(const HeadTraining& training, bool several) {
  const char* figure = several ? "mAP" : "accuracy";
  const train::HeadCandidate& closed = training.trained.candidates.front();
  const train::HeadCandidate& best = training.figures();
  std::string text = fmt::format(
      "features of {} photos in {:.1f} s ({} computed), the head in {:.1f} s\n"
      "validation, {} photos: {} {:.4f}, loss {:.4f}",
      training.training + training.validation, training.feature_seconds, training.computed,
      training.head_seconds, training.validation, figure, best.score, best.loss);
  text += best.rate > 0 ? fmt::format(", learning rate {:g}, weight decay {:g}\n", best.rate,
                                      best.weight_decay)
                        : std::string(", the closed form as it is\n");
  text += fmt::format("beside it: closed form {:.4f}", closed.score);
  for (const NeighbourScore& one : training.neighbours) {
    text += fmt::format(", {} nearest photos {:.4f}", one.k, one.score);
  }
  return text + '\n';
}

LogRow log_row(const HeadTraining& training, const HeadTrainingOptions& options, bool several) {
  const train::HeadCandidate& best = training.figures();
  return {.epoch = 1,
          .step = best.rate > 0 ? options.head.steps : 0,
          .loss = training.training_loss,
          .accuracy = training.training_score,
          .validation = {{several ? "map" : "accuracy", best.score}, {"loss", best.loss}},
          .rate = best.rate,
          .images_per_second = static_cast<double>(training.computed) / training.feature_seconds,
          .best = true};
}

}  // namespace

int run_head(const FinetuneOptions& options, const std::string& recipe,
             std::vector<OptionValue> changed) {
  const auto images = open_training_data(options);
  RunOptions exact = options.run;
  exact.precision = "fp32";  // the weights that are saved; photos see those of --precision
  const weights::Model plain = open_model(options.model, exact, /*pack=*/false);
  require_specification(plain);
  const weights::Model quick = open_model(options.model, options.run, /*pack=*/true);
  RunFolder folder(options.output, options.resume, options.force);
  folder.write_recipe(recipe);
  if (!options.resume) {
    const Interrupt interrupt;
    if (!check_photos(options, *images, [&] { return interrupt.requested(); })) return 130;
  }

  const HeadTrainingOptions how = head_options(options, *images);
  const HeadTraining training = train_head({plain, quick}, images, how);
  if (!training.model) {
    output::note(
        how.features.cache.empty()
            ? "stopped; nothing is kept, as --cache ram asks for"
            : "stopped; the features so far are kept: 'vitascope finetune ... --resume' goes on");
    return 130;
  }
  folder.write_model(*training.model);
  if (!options.run.quiet) output::print(summary(training, images->multi_label));
  TrainingReport report({.options = options,
                         .changed = std::move(changed),
                         .images = images,
                         .fingerprint = data_fingerprint(*images),
                         .folder = folder.path()});
  report.progress().begin(0, 0);
  Answers answers = answers_of(*images, training.held_out, training.held_out_logits);
  LogRow row = log_row(training, how, images->multi_label);
  add_class_figures(answers, row.validation);
  report.progress().log(std::move(row));
  report.describe(*training.model, std::move(answers));
  report.end(train::Ending::finished, how.head.steps);
  return 0;
}

}  // namespace vitascope::app
