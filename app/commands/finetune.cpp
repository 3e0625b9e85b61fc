#include "app/commands/finetune.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "app/device.h"
#include "app/finetune_data.h"
#include "app/finetune_options.h"
#include "app/fixed_recipe.h"
#include "app/head_run.h"
#include "app/measure.h"
#include "app/output.h"
#include "app/process_place.h"
#include "app/recipe.h"
#include "app/run_folder.h"
#include "app/run_state.h"
#include "app/supervisor.h"
#include "app/training_report.h"
#include "datasets/split.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

/// Of all random numbers but those of the loader: the head and LoRA draw from streams of their own.
enum class Stream : std::uint64_t { head = 1, lora = 2, scratch = 3 };

RandomNumbers stream(const FinetuneOptions& options, Stream of) {
  return RandomNumbers(combined_seed({options.seed, static_cast<std::uint64_t>(of)}));
}

/// The opened model with the head that the data needs: its own where it names the same classes and
/// is wanted, else a new one.
weights::Model opened_model(const FinetuneOptions& options, const RunOptions& run,
                            const datasets::LabelledImages& images) {
  weights::Model model = open_model(options.model, run, /*pack=*/false);
  require_specification(model);
  const auto classes = static_cast<int>(images.classes.size());
  const model::Config& config = model.network.config();
  if (!options.new_head && config.classes == classes && config.multi_label == images.multi_label &&
      !config.neighbours && model.labels == images.classes) {
    if (!run.quiet)
      output::note("the model names the same classes: its head is kept (--new-head begins anew)");
  } else {
    RandomNumbers random = stream(options, Stream::head);
    model.network = train::with_new_head(
        model.network, {.classes = classes, .multi_label = images.multi_label}, random);
    model.labels = images.classes;
  }
  return model;
}

/// What is trained, on the device, with exact weights.
weights::Model prepared_model(const FinetuneOptions& options,
                              const datasets::LabelledImages& images) {
  RunOptions run = options.run;
  run.precision = "fp32";  // the exact weights; the trainer rounds its own copy
  RandomNumbers numbers = stream(options, Stream::scratch);
  weights::Model model = options.scratch.scratch
                             ? scratch_model(options.scratch, options.model, run, images, numbers)
                             : opened_model(options, run, images);
  model.label_source = "the data it was trained on";
  warn_of_precision(options.run, device_of(model.network));
  layout_for(model);  // now, not after hours, when no layout can hold it
  if (options.method == "lora") {
    RandomNumbers random = stream(options, Stream::lora);
    train::add_lora(model.network, lora_options(options), random);
  }
  return model;
}

/// What a run begins with.
struct Beginning {
  std::string recipe{};
  std::vector<OptionValue> changed{};
  std::shared_ptr<const datasets::LabelledImages> images;
  weights::Model model;
  std::optional<RunFolder> folder;  ///< of the first process, which alone writes
};

/// A run from its options to its end.
class Run {
 public:
  Run(const FinetuneOptions& options, Beginning beginning, train::ProcessGroup* group)
      : options_(options),
        recipe_(std::move(beginning.recipe)),
        images_(std::move(beginning.images)),
        identity_{.names = nlohmann::json(images_->classes).dump(),
                  .data = data_fingerprint(*images_),
                  .recipe = fixed_recipe(recipe_)},
        model_(std::move(beginning.model)),
        folder_(std::move(beginning.folder)),
        group_(group),
        data_(images_, *model_.specification, options, thread_count(options.run), group),
        learner_(model_.network, learning()),
        trainer_(learner_, trainer_options(options_, data_.batches()), hooks()) {
    if (!folder_) return;
    report_.emplace(TrainingSubject{.options = options,
                                    .changed = std::move(beginning.changed),
                                    .images = images_,
                                    .fingerprint = identity_.data,
                                    .folder = folder_->path()});
  }

  int run() {
    resume();
    if (!checked()) return 130;
    expect_memory();
    const train::Ending ending = trainer_.run();
    if (report_) conclude(ending);
    return ending == train::Ending::interrupted ? 130 : 0;
  }

 private:
  /// What the model that lies in the folder says of the photos for testing, which neither taught
  /// it nor chose it.
  void print_test() const {
    if (options_.run.quiet || datasets::samples_of(*images_, datasets::Split::test).empty()) return;
    RunOptions run = options_.run;
    run.precision = "fp32";  // as `evaluate` opens it
    ModelOptions saved;
    saved.model = folder_->path();
    const weights::Model best = open_model(saved, run, /*pack=*/false);
    const Validation tested = data_.test_alone(best.network, backend());
    std::string line = "test:";
    for (const auto& [name, value] : tested.metrics) line += fmt::format(" {} {:.4f}", name, value);
    output::print(line + "\n");
  }

  train::ClassifierLearning learning() const {
    train::ClassifierLearning result = classifier_learning(options_);
    result.loss = loss_options(options_, images_->multi_label);
    result.loss.class_weights = class_weights(options_, *images_);
    return result;
  }

  /// The network with the weights of an epoch.
  model::VisionTransformer network_with(const train::NamedTensors& weights) const {
    return train::with_weights(learner_.network(), weights);
  }

  kernels::Backend backend() const { return kernels::parse_backend(options_.run.attention); }

  /// Photos that were learned from in the epoch under way, which a run goes on with.
  std::int64_t photos_of_epoch() const {
    const std::int64_t steps = steps_of_epoch(options_, data_.batches());
    return (trainer_.step() - trainer_.epoch() * steps) * options_.accumulation *
           options_.run.batch_size;
  }

  train::TrainerHooks hooks() {
    train::TrainerHooks hooks;
    hooks.next = [this] { return data_.next(); };
    hooks.validate = [this](const train::NamedTensors& weights) {
      if (report_) report_->progress().validating(data_.waiting_share());
      Validation validation = data_.validate(network_with(weights), backend());
      answers_ = std::move(validation.answers);
      return validation.metrics;
    };
    hooks.request = [this] { return signals_.request(); };
    hooks.on_step = [this](const train::StepReport& report) {
      if (report_) report_->progress().step(report);
    };
    hooks.group = group_;
    if (!folder_) return hooks;
    hooks.on_epoch = [this](const train::EpochReport& report) { finish_epoch(report); };
    hooks.save = [this](train::Checkpoint checkpoint, std::int64_t step) {
      complete_checkpoint(checkpoint, identity_, data_.state());
      folder_->save(checkpoint, step);
      report_->progress().saved();
    };
    return hooks;
  }

  void resume() {
    if (folder_) go_on();
    if (group_ != nullptr) take_along();
  }

  /// All processes see the same photos and go on at the first one's place among them; the trainer
  /// does the same with its state.
  void take_along() {
    if (group_->broadcast(identity_.data) != identity_.data) {
      throw UsageError(printable(options_.data) +
                       ": the photos are not those that the first process sees");
    }
    if (!options_.resume) return;
    const datasets::LoaderState state = data_.state();
    const std::string name = group_->broadcast(state.name);
    data_.restore({name, group_->broadcast(state.bytes)});
  }

  void go_on() {
    const bool quiet = options_.run.quiet;
    if (const auto checkpoint = resumed_checkpoint(*folder_, identity_, options_.resume, quiet)) {
      trainer_.restore(*checkpoint);
      data_.restore(place_of(*checkpoint));
      if (!quiet) note_resumed(trainer_);
    }
    report_->progress().begin(trainer_.epoch(), photos_of_epoch());
    folder_->write_recipe(recipe_);
  }

  /// The best model, which was found before this process began.
  void describe_kept() {
    const c10::InferenceMode guard;
    weights::Model kept = weights::open_model(folder_->path());
    move_to(kept.network, device_of(model_.network));
    report_->describe(kept, data_.validate_alone(kept.network, backend()).answers);
  }

  /// Decodes every photo before the first step. \return false when it was interrupted
  bool checked() {
    bool goes_on = true;
    if (folder_ && trainer_.step() == 0) {
      goes_on = check_photos(options_, *images_, [this] { return signals_.stop_requested(); });
    }
    return group_ == nullptr ? goes_on : group_->broadcast(goes_on ? "on" : "") == "on";
  }

  /// The end as the first process tells it.
  void conclude(train::Ending ending) {
    if (ending != train::Ending::interrupted) {
      if (!report_->described()) describe_kept();
      print_test();
    }
    report_->end(ending, trainer_.step());
  }

  /// Says before the first step what training will take, so that nobody waits for it to fail.
  void expect_memory() {
    if (!model_.network.parameters().front().second->is_cpu()) return;
    const train::Batch batch = learner_.blank_batch(data_.batch_shape());
    const std::int64_t more = trainer_.step_bytes(batch) + data_.loader_bytes();
    const bool fits = more <= available_memory();
    expected_memory_ = resident_memory() + more;
    if (fits) {  // then a whole step may tell what allocators and libraries keep beside tensors
      reset_peak_memory();
      trainer_.rehearse(batch);
      expected_memory_ = peak_memory() + data_.loader_bytes();
    }
    if (!options_.run.quiet) {
      output::note(fmt::format("training will take about {}", byte_count(expected_memory_)));
    }
    if (fits) return;
    output::warning(fmt::format(
        "a step needs about {} more, and {} are free: a smaller --batch-size with a larger "
        "--accumulation, --recompute, or a smaller --input-size lower it",
        byte_count(more), byte_count(available_memory())));
  }

  void finish_epoch(const train::EpochReport& report) {
    if (options_.run.verbose) {
      output::note(fmt::format("memory so far at most {}, expected {}", byte_count(peak_memory()),
                               byte_count(expected_memory_)));
    }
    if (!report.best) return report_->progress().epoch(report);
    weights::Model best = model_;
    best.network = network_with(report.weights);
    if (options_.method == "lora") folder_->write_adapter(best);
    train::merge_lora(best.network);
    for (const auto& [name, slot] : best.network.parameters()) *slot = slot->to(at::kFloat);
    folder_->write_model(best);
    report_->progress().epoch(report);
    report_->describe(best, std::move(answers_));
  }

  const FinetuneOptions& options_;
  std::string recipe_;
  TrainingSignals signals_;
  std::shared_ptr<const datasets::LabelledImages> images_;
  RunIdentity identity_;
  weights::Model model_;
  std::optional<RunFolder> folder_;  ///< of the first process
  train::ProcessGroup* group_;       ///< null: this process alone
  FinetuneData data_;
  train::ClassifierLearner learner_;
  train::Trainer trainer_;
  std::optional<TrainingReport> report_;  ///< of the first process
  Answers answers_;                       ///< of the last validation
  std::int64_t expected_memory_ = 0;
};

int finetune(const FinetuneOptions& given, CLI::App& command) {
  check_finetune_options(given);
  FinetuneOptions options = given;
  const std::string recipe = config_text(command, {});
  std::vector<OptionValue> changed = changed_options(command);
  const std::optional<ProcessPlace> place = process_place(environment);
  if (is_frozen(options)) {
    if (options.processes > 1 || place) {
      throw UsageError(
          fmt::format("--method {}: features are computed once, by one process", options.method));
    }
    return run_head(options, recipe, std::move(changed));
  }
  if (options.processes > 1 && !(place && place->supervised)) {
    if (place) throw UsageError("--processes starts processes, and something else did so already");
    return supervise(options.processes);
  }
  if (place) options.run = run_options_at(options.run, *place);
  // All that may be wrong with what was typed is found before the processes meet.
  Beginning beginning;
  beginning.recipe = recipe;
  beginning.changed = std::move(changed);
  beginning.images = open_training_data(options);
  beginning.model = prepared_model(options, *beginning.images);
  if (!place || place->seat.first()) {
    beginning.folder.emplace(options.output, options.resume, options.force);
  }
  const auto run = [&](train::ProcessGroup* group) {
    return Run(options, std::move(beginning), group).run();
  };
  if (!place) return run(nullptr);
  return run_together(*place, [&](train::ProcessGroup& group) { return run(&group); });
}

constexpr const char* kExamples =
    R"(RUN opens as the best model. It also holds README.md (the model card), confusions.png (what is taken
for what), curves.png, recipe.yaml, log.csv, log.jsonl, an event file for TensorBoard, checkpoints/
and, for lora, adapter/. Ctrl-C or SIGTERM finish the step, save and exit with 130; SIGUSR1 saves and goes on;
--resume continues bit by bit. Several processes share every batch: --processes N, torchrun --no-python,
srun or mpirun start them, and the run is the same, to rounding, however many they are.

Examples:
  vitascope finetune --model build/models/everyday --data photos/ --output run
  vitascope finetune --model facebook/dinov2-small --data labels.csv --output run --method lora --resume)";

}  // namespace

std::function<int()> declare_finetune(CLI::App& command) {
  const auto options = std::make_shared<FinetuneOptions>();
  add_finetune_options(command, *options);
  command.footer(kExamples);
  return [options, &command] { return finetune(*options, command); };
}

}  // namespace vitascope::app
