#include "app/commands/train_captioner.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/caption_rewards.h"
#include "app/captioner_data.h"
#include "app/captioner_options.h"
#include "app/fixed_recipe.h"
#include "app/model_use.h"
#include "app/output.h"
#include "app/recipe.h"
#include "app/run_folder.h"
#include "app/run_state.h"
#include "app/training_progress.h"
#include "datasets/captions.h"
#include "vit/caption/captioner.h"
#include "vit/caption/decoder_weights.h"
#include "vit/caption/self_critical.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

/// Attention that looks everywhere nearly alike has learned nothing of where.
constexpr double kUniform = 0.99;

datasets::CaptionedImages opened_captions(const CaptionerOptions& options) {
  datasets::CaptionedImages images = datasets::open_captions(options.data, options.photos);
  if (datasets::photos_of(images, datasets::Split::validation).empty()) {
    datasets::split_validation(images, options.val_fraction, options.seed);
  }
  for (datasets::CaptionedImage& photo : images.photos) {
    if (photo.split == datasets::Split::none) photo.split = datasets::Split::train;
  }
  if (options.run.quiet) return images;
  for (const std::string& note : images.notes) output::note(note);
  output::print(fmt::format("{}: {} photos, {} to learn from, {} for validation\n", images.source,
                            images.photos.size(),
                            datasets::photos_of(images, datasets::Split::train).size(),
                            datasets::photos_of(images, datasets::Split::validation).size()));
  return images;
}

/// What a run begins with. The grid is not known yet.
struct Beginning {
  caption::Captioner captioner;
  caption::Encoder encoder;
};

Beginning new_captioner(const CaptionerOptions& options, const datasets::CaptionedImages& images) {
  const caption::EncoderOptions how = encoder_options(options);
  caption::Encoder encoder = caption::open_encoder(options.encoder, how);
  caption::EncoderReference reference = caption::reference_to(encoder, options.encoder, how);
  caption::Vocabulary vocabulary = vocabulary_of(images, options.min_count);
  const caption::DecoderConfig config =
      decoder_config(options, vocabulary.size(), encoder.channels());
  RandomNumbers random(options.seed);
  return {.captioner = {.decoder = caption::initial_decoder(config, random),
                        .vocabulary = std::move(vocabulary),
                        .encoder = std::move(reference)},
          .encoder = std::move(encoder)};
}

Beginning captioner_to_go_on_with(const CaptionerOptions& options) {
  caption::Captioner captioner = caption::open_captioner(options.start);
  const std::string place = caption::encoder_place(captioner, options.start, options.encoder);
  caption::Encoder encoder = caption::open_encoder_of(captioner, options.start, place);
  captioner.encoder.path = std::filesystem::absolute(place).lexically_normal().string();
  return {.captioner = std::move(captioner), .encoder = std::move(encoder)};
}

/// A run from its options to its end.
class CaptionerRun {
 public:
  CaptionerRun(const CaptionerOptions& options, std::string recipe, const RunFolder& folder,
               const datasets::CaptionedImages& images, caption::Captioner start,
               PhotoFeatures features)
      : options_(options),
        recipe_(std::move(recipe)),
        folder_(folder),
        captioner_(std::move(start)),
        identity_{.names = captioner_.vocabulary.to_json().dump(),
                  .data = data_fingerprint(images),
                  .recipe = fixed_recipe(recipe_),
                  .names_are = "words",
                  .photos_have = "captions"},
        learner_(learner(images, features.photos)),
        data_(images, std::move(features), captioner_.vocabulary, options),
        trainer_(*learner_, trainer_options(options, data_.batches()), hooks()),
        progress_(
            folder.path(),
            {.epochs = options.epochs, .photos = data_.samples(), .validation = data_.held_out()},
            options.run.quiet) {}

  int run() {
    go_on();
    const train::Ending ending = trainer_.run();
    progress_.end(ending, trainer_.step(), "vitascope train-captioner ...");
    if (ending == train::Ending::interrupted) return 130;
    conclude(ending);
    return 0;
  }

 private:
  std::unique_ptr<caption::CaptionLearner> learner(const datasets::CaptionedImages& images,
                                                   const std::vector<std::size_t>& photos) const {
    const caption::CaptionLearning learning = caption_learning(options_);
    if (!options_.self_critical) {
      return std::make_unique<caption::CaptionLearner>(captioner_.decoder, captioner_.rows,
                                                       captioner_.columns, learning);
    }
    return std::make_unique<caption::SelfCriticalLearner>(
        captioner_.decoder, captioner_.rows, captioner_.columns, learning, options_.longest + 1,
        CaptionRewards(images, photos, captioner_.vocabulary));
  }

  train::TrainerHooks hooks() {
    train::TrainerHooks hooks;
    hooks.next = [this] { return data_.next(); };
    hooks.validate = [this](const train::NamedTensors& weights) {
      progress_.validating(0);
      return data_.validate(learner_->decoder_with(weights));
    };
    hooks.request = [this] { return signals_.request(); };
    hooks.on_step = [this](const train::StepReport& report) { progress_.step(report); };
    hooks.on_epoch = [this](const train::EpochReport& report) { finish_epoch(report); };
    hooks.save = [this](train::Checkpoint checkpoint, std::int64_t step) {
      complete_checkpoint(checkpoint, identity_, data_.state());
      folder_.save(checkpoint, step);
      progress_.saved();
    };
    return hooks;
  }

  void go_on() {
    const bool quiet = options_.run.quiet;
    if (const auto checkpoint = resumed_checkpoint(folder_, identity_, options_.resume, quiet)) {
      trainer_.restore(*checkpoint);
      data_.restore(place_of(*checkpoint));
      if (!quiet) note_resumed(trainer_);
    }
    const std::int64_t of_epoch = trainer_.step() - trainer_.epoch() * data_.batches();
    progress_.begin(trainer_.epoch(), of_epoch * options_.run.batch_size);
    folder_.write_recipe(recipe_);
  }

  void finish_epoch(const train::EpochReport& report) {
    if (report.best) {
      caption::Captioner best = captioner_;
      best.decoder = learner_->decoder_with(report.weights);
      caption::save_captioner(best, folder_.path());
    }
    progress_.epoch(report);
    if (report.metrics.at("attention") > kUniform && !options_.run.quiet) {
      output::warning(fmt::format(
          "attention looks everywhere nearly alike ({:.3f} of a uniform one's entropy): where it "
          "looks says nothing so far",
          report.metrics.at("attention")));
    }
  }

  void conclude(train::Ending ending) const {
    const std::string folder = printable(folder_.path());
    if (options_.run.quiet) return output::print(folder + "\n");
    const LogRow* best = best_row(progress_.rows());
    output::print(fmt::format(
        "\n{}: {} opens as the captioner{}\nuse it   vitascope caption PHOTO --model {}\n",
        ending == train::Ending::early ? "no better epoch came, so it ended early" : "done", folder,
        best == nullptr ? "" : fmt::format(" of epoch {}", best->epoch),
        printable(shell_word(folder_.path()))));
  }

  const CaptionerOptions& options_;
  std::string recipe_;
  const RunFolder& folder_;
  TrainingSignals signals_;
  caption::Captioner captioner_;
  RunIdentity identity_;
  std::unique_ptr<caption::CaptionLearner> learner_;
  CaptionerData data_;
  train::Trainer trainer_;
  TrainingProgress progress_;
};

int train_captioner(const CaptionerOptions& options, CLI::App& command) {
  check_captioner_options(options);
  const std::string recipe = config_text(command, {});
  apply_threads(options.run);
  const datasets::CaptionedImages images = opened_captions(options);
  auto [start, encoder] =
      options.start.empty() ? new_captioner(options, images) : captioner_to_go_on_with(options);
  const RunFolder folder(options.output, options.resume, options.force);
  PhotoFeatures features = photo_features(encoder, start.encoder, images, options);
  if (features.interrupted) {
    output::note("stopped; what was seen so far is kept: --resume goes on");
    return 130;
  }
  start.rows = features.rows;
  start.columns = features.columns;
  return CaptionerRun(options, recipe, folder, images, std::move(start), std::move(features)).run();
}

constexpr const char* kExamples =
    R"(RUN opens as the captioner of the best epoch. It also holds curves.png, recipe.yaml, log.csv,
log.jsonl, an event file for TensorBoard and checkpoints/. Ctrl-C or SIGTERM finish the step, save and
exit with 130; SIGUSR1 saves and goes on; --resume continues bit by bit.

Examples:
  vitascope train-captioner --data captions.json --encoder build/models/efficientnet-lite0 --output run
  vitascope train-captioner --data Flickr8k.token.txt --encoder resnet101.pth --output run --attention-type hard)";

}  // namespace

std::function<int()> declare_train_captioner(CLI::App& command) {
  const auto options = std::make_shared<CaptionerOptions>();
  add_captioner_options(command, *options);
  command.footer(kExamples);
  return [options, &command] { return train_captioner(*options, command); };
}

}  // namespace vitascope::app
