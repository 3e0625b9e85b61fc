#include "app/head_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "app/finetune_data.h"
#include "app/head_training.h"
#include "app/interrupt.h"
#include "app/neighbour_training.h"
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

FeatureOptions feature_options(const FinetuneOptions& options) {
  FeatureOptions features;
  features.run = options.run;
  features.photos.allow_truncated = options.allow_truncated;
  features.photos.max_pixels = options.max_pixels;
  features.cache = cache_file(options);
  return features;
}

HeadTrainingOptions head_options(const FinetuneOptions& options,
                                 const datasets::LabelledImages& images) {
  HeadTrainingOptions result;
  result.features = feature_options(options);
  result.head.loss = loss_options(options, images.multi_label);
  result.head.loss.class_weights = class_weights(options, images);
  if (options.rate) result.head.rates = {*options.rate};
  result.head.seed = options.seed;
  result.on_bad_image = on_bad_image(options);
  return result;
}

NeighbourOptions neighbour_options(const FinetuneOptions& options) {
  NeighbourOptions result;
  result.features = feature_options(options);
  result.count = options.neighbours;
  result.temperature = options.temperature;
  result.on_bad_image = on_bad_image(options);
  return result;
}

/// What a method gives, and how it is told.
struct NewModel {
  std::optional<weights::Model> model;  ///< nothing: interrupted
  FrozenSamples samples{};
  at::Tensor held_out_logits{};
  std::string summary{};
  LogRow row{};
};

std::string features_text(const FrozenSamples& samples) {
  return fmt::format("features of {} photos in {:.1f} s ({} computed)", samples.photos(),
                     samples.seconds, samples.computed);
}

std::string beside_text(const std::vector<NeighbourScore>& scores) {
  std::string text;
  for (const NeighbourScore& one : scores) {
    text += fmt::format("{}{} nearest photos {:.4f}", text.empty() ? "" : ", ", one.k, one.score);
  }
  return text;
}

double photos_per_second(const FrozenSamples& samples) {
  return static_cast<double>(samples.computed) / samples.seconds;
}

NewModel trained_head(const FrozenModel& model,
                      const std::shared_ptr<const datasets::LabelledImages>& images,
                      const HeadTrainingOptions& options) {
  HeadTraining training = train_head(model, images, options);
  if (!training.model) return {};
  const char* figure = images->multi_label ? "mAP" : "accuracy";
  const train::HeadCandidate& closed = training.trained.candidates.front();
  const train::HeadCandidate& best = training.figures();
  std::string text =
      fmt::format("{}, the head in {:.1f} s\nvalidation, {} photos: {} {:.4f}, loss {:.4f}",
                  features_text(training.samples), training.seconds,
                  training.samples.held_out.size(), figure, best.score, best.loss);
  text += best.rate > 0 ? fmt::format(", learning rate {:g}, weight decay {:g}\n", best.rate,
                                      best.weight_decay)
                        : std::string(", the closed form as it is\n");
  text += fmt::format("beside it: closed form {:.4f}, {}\n", closed.score,
                      beside_text(training.neighbours));
  LogRow row{
      .epoch = 1,
      .step = best.rate > 0 ? options.head.steps : 0,
      .loss = training.training_loss,
      .accuracy = training.training_score,
      .validation = {{images->multi_label ? "map" : "accuracy", best.score}, {"loss", best.loss}},
      .rate = best.rate,
      .images_per_second = photos_per_second(training.samples),
      .best = true};
  return {std::move(training.model), std::move(training.samples),
          std::move(training.held_out_logits), std::move(text), std::move(row)};
}

NewModel kept_neighbours(const FrozenModel& model,
                         const std::shared_ptr<const datasets::LabelledImages>& images,
                         const NeighbourOptions& options) {
  NeighbourTraining training = keep_neighbours(model, images, options);
  if (!training.model) return {};
  std::string text = fmt::format(
      "{}, {} kept with the model\nvalidation, {} photos: accuracy {:.4f}, loss {:.4f}, {} nearest "
      "photos, temperature {:g}\nbeside it: {}\n",
      features_text(training.samples), training.samples.training.features.size(0),
      training.samples.held_out.size(), training.score, training.loss, options.count,
      options.temperature, beside_text(training.others));
  LogRow row{.epoch = 1,
             .loss = training.training_loss,
             .accuracy = training.training_score,
             .validation = {{"accuracy", training.score}, {"loss", training.loss}},
             .images_per_second = photos_per_second(training.samples),
             .best = true};
  return {std::move(training.model), std::move(training.samples),
          std::move(training.held_out_logits), std::move(text), std::move(row)};
}

}  // namespace

int run_head(const FinetuneOptions& options, const std::string& recipe,
             std::vector<OptionValue> changed) {
  const auto images = open_training_data(options);
  const bool votes = options.method == "knn";
  if (votes) check_neighbours(neighbour_options(options), *images);
  const bool weighed = std::ranges::any_of(
      images->samples, [](const datasets::Sample& sample) { return sample.weight != 1; });
  if (votes && weighed && !options.run.quiet) {
    output::note("with knn all photos count alike: their weights in the table are not used");
  }
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

  const FrozenModel frozen{plain, quick};
  NewModel found = votes ? kept_neighbours(frozen, images, neighbour_options(options))
                         : trained_head(frozen, images, head_options(options, *images));
  if (!found.model) {
    output::note(
        cache_file(options).empty()
            ? "stopped; nothing is kept, as --cache ram asks for"
            : "stopped; the features so far are kept: 'vitascope finetune ... --resume' goes on");
    return 130;
  }
  folder.write_model(*found.model);
  if (!options.run.quiet) output::print(found.summary);
  TrainingReport report({.options = options,
                         .changed = std::move(changed),
                         .images = images,
                         .fingerprint = data_fingerprint(*images),
                         .folder = folder.path()});
  report.progress().begin(0, 0);
  Answers answers = answers_of(*images, found.samples.held_out, found.held_out_logits);
  add_class_figures(answers, found.row.validation);
  report.progress().log(found.row);
  report.describe(*found.model, std::move(answers));
  report.end(train::Ending::finished, found.row.step);
  return 0;
}

}  // namespace vitascope::app
