#include "app/commands/finetune.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "app/finetune_data.h"
#include "app/finetune_options.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/process_place.h"
#include "app/progress.h"
#include "app/recipe.h"
#include "app/run_folder.h"
#include "app/supervisor.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Of all random numbers but those of the loader: the head and LoRA draw from streams of their own.
enum class Stream : std::uint64_t { head = 1, lora = 2 };

RandomNumbers stream(const FinetuneOptions& options, Stream of) {
  return RandomNumbers(combined_seed({options.seed, static_cast<std::uint64_t>(of)}));
}

/// The model with the head that the data needs: its own where it names the same classes, else a
/// new one.
weights::Model prepared_model(const FinetuneOptions& options,
                              const datasets::LabelledImages& images) {
  RunOptions run = options.run;
  run.precision = "fp32";  // the exact weights; the trainer rounds its own copy
  weights::Model model = open_model(options.model, run, /*pack=*/false);
  require_specification(model);
  const auto classes = static_cast<int>(images.classes.size());
  if (model.network.config().classes == classes && model.labels == images.classes) {
    if (!run.quiet) output::note("the model names the same classes: its head is kept");
  } else {
    RandomNumbers random = stream(options, Stream::head);
    model.network = train::with_new_head(model.network, classes, random);
    model.labels = images.classes;
  }
  model.label_source = "the data it was trained on";
  layout_for(model);  // now, not after hours, when no layout can hold it
  if (options.method == "lora") {
    RandomNumbers random = stream(options, Stream::lora);
    train::add_lora(model.network, lora_options(options), random);
  }
  return model;
}

/// Options that may differ when a run goes on.
bool may_change(const std::string& name) {
  for (const char* free :
       {"resume", "force", "quiet", "verbose", "threads", "processes", "data", "model"}) {
    if (name == free) return true;
  }
  return false;
}

/// What a run must have in common with the one that it goes on with.
std::string fixed_recipe(const std::string& recipe) {
  std::istringstream lines(recipe);
  std::string fixed;
  for (std::string line; std::getline(lines, line);) {
    line.erase(std::min(line.find("  #"), line.size()));
    const std::size_t end = line.find_last_not_of(' ');
    line.erase(end == std::string::npos ? 0 : end + 1);
    const std::string name = line.substr(0, line.find(':'));
    if (!may_change(name) && name != "output") fixed += line + '\n';
  }
  return fixed;
}

/// \throws UsageError naming the first option that differs
void require_same_recipe(const std::string& before, const std::string& now) {
  std::istringstream old_lines(before);
  std::istringstream new_lines(now);
  std::string old_line;
  std::string new_line;
  while (std::getline(old_lines, old_line) && std::getline(new_lines, new_line)) {
    if (old_line == new_line) continue;
    throw UsageError(
        fmt::format("--resume: the run was begun with '{}', not '{}': give the same "
                    "options, or another --output for another run",
                    printable(old_line), printable(new_line)));
  }
}

/// What a run begins with.
struct Beginning {
  std::shared_ptr<const datasets::LabelledImages> images;
  weights::Model model;
  std::optional<RunFolder> folder;  ///< of the first process, which alone writes
};

/// A run from its options to its end.
class Run {
 public:
  Run(const FinetuneOptions& options, std::string recipe, Beginning beginning,
      train::ProcessGroup* group)
      : options_(options),
        recipe_(std::move(recipe)),
        images_(std::move(beginning.images)),
        model_(std::move(beginning.model)),
        folder_(std::move(beginning.folder)),
        group_(group),
        data_(images_, *model_.specification, options, thread_count(options.run), group),
        trainer_(model_.network, trainer_options_with_data(), hooks()),
        progress_(std::make_unique<Progress>(total_steps(), options.run.quiet)) {}

  int run() {
    resume();
    const auto ending = trainer_.run();
    progress_->clear();
    if (!folder_) return ending == train::Ending::interrupted ? 130 : 0;
    if (ending == train::Ending::interrupted) {
      output::note(fmt::format("saved after step {}; 'vitascope finetune ... --resume' goes on",
                               trainer_.step()));
      return 130;
    }
    output::print(fmt::format("{} {}: vitascope classify PHOTO --model {}\n",
                              ending == train::Ending::early
                                  ? "no better epoch came, so it ended early; the best is"
                                  : "done; the best is",
                              printable(folder_->path()), printable(folder_->path())));
    return 0;
  }

 private:
  train::TrainerOptions trainer_options_with_data() {
    train::TrainerOptions result = trainer_options(options_, data_.batches());
    if (result.metric == "map" && !images_->multi_label) {
      throw UsageError("--metric map: photos with one label each have no figure 'map'");
    }
    if (images_->multi_label) result.loss.kind = train::LossKind::binary;
    result.loss.class_weights = class_weights(options_, *images_);
    return result;
  }

  std::size_t total_steps() const {
    const std::int64_t batches = data_.batches();
    const std::int64_t steps = (batches + options_.accumulation - 1) / options_.accumulation;
    return static_cast<std::size_t>(steps * options_.epochs);
  }

  train::TrainerHooks hooks() {
    train::TrainerHooks hooks;
    hooks.next = [this] { return data_.next(); };
    hooks.validate = [this](const model::VisionTransformer& network) {
      trained_seconds_ = seconds_since(epoch_start_);
      waiting_ = data_.waiting_share();
      return data_.validate(network, kernels::parse_backend(options_.run.attention));
    };
    hooks.request = [this] {
      if (interrupt_.requested()) return train::Request::stop;
      return save_signal_.take() ? train::Request::save : train::Request::none;
    };
    hooks.on_step = [this](const train::StepReport& report) {
      progress_->show(static_cast<std::size_t>(report.step));
    };
    hooks.group = group_;
    if (!folder_) return hooks;
    hooks.on_epoch = [this](const train::EpochReport& report) { finish_epoch(report); };
    hooks.save = [this](train::Checkpoint checkpoint, std::int64_t step) {
      const datasets::LoaderState loader = data_.state();
      checkpoint.texts["loader"] = nlohmann::json{{"name", loader.name}}.dump();
      checkpoint.texts["loader position"] = loader.bytes;
      checkpoint.texts["recipe"] = fixed_recipe(recipe_);
      checkpoint.texts["labels"] = nlohmann::json(images_->classes).dump();
      checkpoint.texts["data"] = data_fingerprint(*images_);
      checkpoint.texts["program"] = VITASCOPE_VERSION;
      folder_->save(checkpoint, step);
    };
    return hooks;
  }

  void resume() {
    if (folder_) go_on();
    if (group_ != nullptr) take_along();
    start_ = epoch_start_ = Clock::now();
  }

  /// All processes see the same photos and go on at the first one's place among them; the trainer
  /// does the same with its state.
  void take_along() {
    const std::string data = data_fingerprint(*images_);
    if (group_->broadcast(data) != data) {
      throw UsageError(printable(options_.data) +
                       ": the photos are not those that the first process sees");
    }
    if (!options_.resume) return;
    const datasets::LoaderState state = data_.state();
    const std::string name = group_->broadcast(state.name);
    data_.restore({name, group_->broadcast(state.bytes)});
  }

  void go_on() {
    std::optional<train::Checkpoint> checkpoint;
    if (options_.resume) checkpoint = folder_->checkpoint();
    if (options_.resume && !checkpoint) {
      output::note(printable(folder_->path()) + " has no checkpoint yet: the run begins anew");
    }
    if (checkpoint) {
      if (checkpoint->text("labels") != nlohmann::json(images_->classes).dump()) {
        throw UsageError("--resume: the classes of the data are not those that the run learned");
      }
      if (checkpoint->text("data") != data_fingerprint(*images_)) {
        throw UsageError(
            "--resume: the photos, their labels or their split are not those of the "
            "run: expected the same data");
      }
      require_same_recipe(checkpoint->text("recipe"), fixed_recipe(recipe_));
      trainer_.restore(*checkpoint);
      data_.restore({nlohmann::json::parse(checkpoint->text("loader")).at("name"),
                     checkpoint->text("loader position")});
      output::note(
          fmt::format("goes on in epoch {} after step {}", trainer_.epoch() + 1, trainer_.step()));
    }
    folder_->cut_log(trainer_.epoch());
    folder_->write_recipe(recipe_);
    first_step_ = trainer_.step();
  }

  void finish_epoch(const train::EpochReport& report) {
    if (report.best) {
      weights::Model best = model_;
      best.network = report.network;
      if (options_.method == "lora") folder_->write_adapter(best.network);
      train::merge_lora(best.network);
      for (const auto& [name, slot] : best.network.parameters()) *slot = slot->to(at::kFloat);
      folder_->write_model(best);
    }
    const auto samples = static_cast<double>(report.sums.samples);
    const LogRow row{.epoch = report.epoch + 1,
                     .step = report.step,
                     .loss = report.sums.loss / report.sums.weight,
                     .accuracy = static_cast<double>(report.sums.right) / samples,
                     .validation = report.metrics,
                     .rate = report.rate,
                     .images_per_second = samples / trained_seconds_,
                     .waiting = waiting_,
                     .best = report.best};
    folder_->log(row);
    progress_->clear();
    if (!options_.run.quiet) output::print(epoch_line(row));
    epoch_start_ = Clock::now();
  }

  std::string epoch_line(const LogRow& row) const {
    std::string line =
        fmt::format("epoch {}/{}  loss {:.4f}  accuracy {:.3f}  validation:", row.epoch,
                    options_.epochs, row.loss, row.accuracy);
    for (const auto& [name, value] : row.validation) line += fmt::format(" {} {:.4f}", name, value);
    const double done = static_cast<double>(row.step - first_step_);
    const double left = static_cast<double>(total_steps()) - static_cast<double>(row.step);
    return fmt::format("{}  rate {:.2e}  {:.1f} images/s  waiting {:.0f}%  {:.0f} min left{}\n",
                       line, row.rate, row.images_per_second, 100 * row.waiting,
                       seconds_since(start_) / done * left / 60, row.best ? "  best" : "");
  }

  const FinetuneOptions& options_;
  std::string recipe_;
  Interrupt interrupt_{{SIGINT, SIGTERM}};
  SaveSignal save_signal_;
  std::shared_ptr<const datasets::LabelledImages> images_;
  weights::Model model_;
  std::optional<RunFolder> folder_;  ///< of the first process
  train::ProcessGroup* group_;       ///< null: this process alone
  FinetuneData data_;
  train::Trainer trainer_;
  std::unique_ptr<Progress> progress_;
  Clock::time_point start_ = Clock::now(), epoch_start_ = start_;
  std::int64_t first_step_ = 0;
  double trained_seconds_ = 0, waiting_ = 0;
};

int finetune(const FinetuneOptions& given, CLI::App& command) {
  check_finetune_options(given);
  FinetuneOptions options = given;
  const std::optional<ProcessPlace> place = process_place(environment);
  if (options.processes > 1 && !(place && place->supervised)) {
    if (place) throw UsageError("--processes starts processes, and something else did so already");
    return supervise(options.processes);
  }
  if (place) options.run = run_options_at(options.run, *place);
  const std::string recipe = config_text(command, {});
  // All that may be wrong with what was typed is found before the processes meet.
  Beginning beginning;
  beginning.images = open_training_data(options);
  beginning.model = prepared_model(options, *beginning.images);
  if (!place || place->seat.first()) {
    beginning.folder.emplace(options.output, options.resume, options.force);
  }
  const auto run = [&](train::ProcessGroup* group) {
    return Run(options, recipe, std::move(beginning), group).run();
  };
  if (!place) return run(nullptr);
  return run_together(*place, [&](train::ProcessGroup& group) { return run(&group); });
}

constexpr const char* kExamples =
    R"(RUN opens as the best model. It also holds recipe.yaml, log.csv, log.jsonl, checkpoints/ and, for
lora, adapter/. Ctrl-C or SIGTERM finish the step, save and exit with 130; SIGUSR1 saves and goes on;
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
