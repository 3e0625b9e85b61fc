#include "app/finetune_options.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "app/values.h"
#include "vit/error.h"

namespace vitascope::app {
namespace {

const std::map<std::string, train::Tuning> kMethods{
    {"full", train::Tuning::full}, {"lora", train::Tuning::lora}, {"bias", train::Tuning::bias}};

void add_data_options(CLI::App& command, FinetuneOptions& options) {
  const std::string group = "Data";
  command.add_option("--data", options.data, "a folder, or a table of photos and labels")
      ->type_name("DATA")
      ->group(group);
  command
      .add_option("-o,--output", options.output, "folder of the run; it opens as the best model")
      ->type_name("RUN")
      ->group(group);
  command
      .add_option("--val-fraction", options.val_fraction,
                  "part kept for validation where the data has none")
      ->type_name("P")
      ->check(number(0.001, 0.9))
      ->group(group);
  command.add_option("--on-bad-image", options.on_bad_image, "a photo that can't be decoded")
      ->type_name("error|skip")
      ->check(one_of({"error", "skip"}))
      ->group(group);
  command.add_flag("--skip-check", options.skip_check, "do not decode every photo once beforehand")
      ->group(group);
  command
      .add_option("--cache", options.cache,
                  "where decoded photos, or features of head and knn, are kept [default: none; "
                  "features disk]")
      ->type_name("none|ram|disk")
      ->check(one_of({"none", "ram", "disk"}))
      ->group(group);
  command.add_option("--sampling", options.sampling, "balanced: every class comes equally often")
      ->type_name("natural|balanced")
      ->check(one_of({"natural", "balanced"}))
      ->group(group);
  command.add_flag("--allow-truncated", options.allow_truncated, "a damaged JPEG is no error")
      ->group(group);
  command.add_option("--max-pixels", options.max_pixels, "largest photo, in megapixels")
      ->type_name("N")
      ->check(number(0.001, 100000))
      ->group(group);
  command.add_flag("--resume", options.resume, "go on where the run in --output stopped")
      ->group(group);
  command.add_flag("--force", options.force, "begin anew in a folder that holds a run")
      ->group(group);
}

void add_learning_options(CLI::App& command, FinetuneOptions& options) {
  const std::string group = "Learning";
  const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
    return command.add_option(name, value, help)->type_name(type)->group(group);
  };
  add("--method", options.method, "full|head|lora|bias|knn",
      "everything, the head alone, low-rank additions, biases, or nothing: the nearest photos vote")
      ->check(one_of({"full", "head", "lora", "bias", "knn"}));
  command
      .add_flag("--new-head", options.new_head,
                "begin with a random head where the model's names the same classes, too")
      ->group(group);
  add("--lora-rank", options.lora_rank, "N", "rank of LoRA's additions")
      ->check(whole_number(1, 4096));
  add("--lora-alpha", options.lora_alpha, "X", "they count alpha / rank")->check(number(1e-6, 1e6));
  add("--neighbours", options.neighbours, "K", "nearest photos that vote, of knn")
      ->check(whole_number(1, 1 << 20));
  add("--temperature", options.temperature, "T", "of their votes, exp(cosine / T)")
      ->check(number(1e-3, 1e3));
  add("--epochs", options.epochs, "N", "times that every photo is seen")
      ->check(whole_number(1, 100000));
  add("--lr", options.rate, "RATE",
      "learning rate of the last block [default: full 1e-4, lora 5e-4, bias 1e-3]")
      ->check(number(0, 100));
  add("--head-lr", options.head_rate, "RATE", "learning rate of the head")
      ->check(number(1e-12, 100));
  add("--layer-decay", options.layer_decay, "X", "rate of each block beside that of the next")
      ->check(number(1e-3, 1));
  add("--weight-decay", options.weight_decay, "X", "of matrices")->check(number(0, 100));
  add("--warmup-epochs", options.warmup_epochs, "N", "epochs in which the rate rises")
      ->check(number(0, 100000));
  add("--decay", options.decay, "cosine|linear|constant", "of the rate after that")
      ->check(one_of({"cosine", "linear", "constant"}));
  add("--optimizer", options.optimizer, "adamw|sgd", "how gradients become steps")
      ->check(one_of({"adamw", "sgd"}));
  add("--accumulation", options.accumulation, "N", "batches to one step")
      ->check(whole_number(1, 65536));
  add("--clip-norm", options.clip_norm, "X", "largest norm of all gradients; 0: any")
      ->check(number(0, 1e9));
  add("--loss", options.loss, "auto|cross-entropy|focal|binary|asymmetric",
      "auto: cross entropy, or binary with several labels a photo")
      ->check(one_of({"auto", "cross-entropy", "focal", "binary", "asymmetric"}));
  add("--focal-gamma", options.focal_gamma, "X", "how little easy photos count in the focal loss")
      ->check(number(0, 100));
  add("--label-smoothing", options.label_smoothing, "X",
      "part of the target spread over classes [default: 0.1, head 0]")
      ->check(number(0, 0.99));
  add("--class-weights", options.class_weights, "none|inverse|effective", "rare classes count more")
      ->check(one_of({"none", "inverse", "effective"}));
  add("--ema", options.ema, "X", "decay of an average of the weights, which is kept; 0: none")
      ->check(number(0, 0.999999));
  add("--drop-path", options.drop_path, "P", "branches left out, in the last block")
      ->check(number(0, 0.9));
  add("--dropout", options.dropout, "P", "features left out before the head")
      ->check(number(0, 0.9));
  command.add_flag("--recompute", options.recompute, "less memory: blocks are computed twice")
      ->group(group);
  add("--metric", options.metric, "accuracy|loss|macro_f1|micro_f1|map",
      "of validation, by which the best is kept")
      ->check(one_of({"accuracy", "loss", "macro_f1", "micro_f1", "map"}));
  add("--patience", options.patience, "N",
      "end after so many epochs without a better one; 0: never")
      ->check(whole_number(0, 100000));
  add("--seed", options.seed, "N", "of all random numbers");
}

void add_augmentation_options(CLI::App& command, FinetuneOptions& options) {
  const std::string group = "Augmentation";
  const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
    return command.add_option(name, value, help)->type_name(type)->group(group);
  };
  add("--crop-area", options.crop_area, "P", "smallest part of a photo that is shown; 1: no crops")
      ->check(number(0.01, 1));
  add("--flip", options.flip, "P", "probability of mirroring")->check(number(0, 1));
  add("--policy", options.policy, "none|rand-augment|three-augment", "changes of the whole photo")
      ->check(one_of({"none", "rand-augment", "three-augment"}));
  add("--magnitude", options.magnitude, "X", "strength of rand-augment")->check(number(0, 30));
  add("--colour-jitter", options.colour_jitter, "X", "of brightness, contrast and saturation")
      ->check(number(0, 1));
  add("--erase", options.erase, "P", "probability of erasing a rectangle")->check(number(0, 1));
  add("--mixup", options.mixup, "ALPHA", "mix photos of a batch; 0: not")->check(number(0, 100));
  add("--cutmix", options.cutmix, "ALPHA", "paste parts of one into the other; 0: not")
      ->check(number(0, 100));
}

}  // namespace

void add_finetune_options(CLI::App& command, FinetuneOptions& options) {
  add_data_options(command, options);
  add_scratch_options(command, options.scratch);
  add_learning_options(command, options);
  add_augmentation_options(command, options);
  add_model_options(command, options.model);
  add_run_options(command, options.run);
  command
      .add_option("--processes", options.processes,
                  "processes on this machine that share every batch")
      ->type_name("N")
      ->check(whole_number(1, 1024))
      ->group("Running");
}

void check_finetune_options(const FinetuneOptions& options) {
  if (options.data.empty()) {
    throw UsageError(
        "no data is given; --data takes a folder of class folders or a table of labels");
  }
  if (options.output.empty()) throw UsageError("no output is given; --output takes a folder");
  check_scratch_options(options.scratch, options.model);
  if (options.scratch.scratch && options.method != "full") {
    throw UsageError(
        fmt::format("--method {} leaves most weights as they are, and those of --scratch "
                    "are random: expected full",
                    options.method));
  }
  if (options.resume && options.force) {
    throw UsageError("--resume goes on with a run and --force begins anew: expected one of them");
  }
  if (is_frozen(options) && options.cache == "none") {
    throw UsageError(fmt::format(
        "--cache none: features for --method {} are computed once: expected ram or disk",
        options.method));
  }
  if (options.warmup_epochs > options.epochs) {
    throw UsageError(fmt::format("--warmup-epochs {} is more than --epochs {}",
                                 options.warmup_epochs, options.epochs));
  }
}

void check_options_for(const FinetuneOptions& options, bool multi_label) {
  loss_options(options, multi_label);
  if (!multi_label && (options.metric == "map" || options.metric == "micro_f1")) {
    throw UsageError(fmt::format("--metric {0}: photos with one label each have no figure '{0}'",
                                 options.metric));
  }
}

bool is_frozen(const FinetuneOptions& options) {
  return options.method == "head" || options.method == "knn";
}

double base_rate(const FinetuneOptions& options) {
  const std::map<std::string, double> rates{{"full", 1e-4}, {"lora", 5e-4}, {"bias", 1e-3}};
  return options.rate.value_or(rates.at(options.method));
}

std::int64_t steps_of_epoch(const FinetuneOptions& options, std::int64_t batches) {
  return (batches + options.accumulation - 1) / options.accumulation;
}

train::TrainerOptions trainer_options(const FinetuneOptions& options, std::int64_t batches) {
  const std::int64_t steps = steps_of_epoch(options, batches);
  train::TrainerOptions result;
  result.epochs = options.epochs;
  result.accumulation = options.accumulation;
  result.clip_norm = options.clip_norm;
  result.schedule.steps = steps * options.epochs;
  result.schedule.warmup = std::llround(options.warmup_epochs * static_cast<double>(steps));
  result.schedule.rate = base_rate(options);
  result.schedule.decay = train::decay_named(options.decay);
  if (options.optimizer == "sgd") result.method = train::Sgd{};
  if (options.ema > 0) result.ema = train::EmaOptions{.decay = options.ema};
  result.seed = options.seed;
  result.metric = options.metric;
  result.lower_is_better = options.metric == "loss";
  result.patience = options.patience;
  return result;
}

train::ClassifierLearning classifier_learning(const FinetuneOptions& options) {
  const double rate = base_rate(options);
  return {.rules = {.weight_decay = options.weight_decay,
                    .layer_decay = options.layer_decay,
                    .head_scale = rate > 0 ? options.head_rate / rate : 1},
          .tuning = kMethods.at(options.method),
          .mix = {.mixup_alpha = options.mixup, .cutmix_alpha = options.cutmix},
          .drop_path = options.drop_path,
          .dropout = options.dropout,
          .recompute = options.recompute,
          .precision = options.run.precision == "bf16" ? at::kBFloat16 : at::kFloat,
          .backend = kernels::parse_backend(options.run.attention)};
}

train::LossOptions loss_options(const FinetuneOptions& options, bool multi_label) {
  using train::LossKind;
  static const std::map<std::string, LossKind> kinds{{"cross-entropy", LossKind::cross_entropy},
                                                     {"focal", LossKind::focal},
                                                     {"binary", LossKind::binary},
                                                     {"asymmetric", LossKind::asymmetric}};
  train::LossOptions loss;
  loss.kind = options.loss == "auto" ? (multi_label ? LossKind::binary : LossKind::cross_entropy)
                                     : kinds.at(options.loss);
  const bool several = loss.kind == LossKind::binary || loss.kind == LossKind::asymmetric;
  if (multi_label && !several) {
    throw UsageError(
        fmt::format("--loss {}: the photos have several labels each: expected binary or asymmetric",
                    options.loss));
  }
  loss.gamma = options.focal_gamma;
  // A closed form on standardised features is far from the extremes that smoothing guards against.
  loss.smoothing = options.label_smoothing.value_or(options.method == "head" ? 0 : 0.1);
  return loss;
}

datasets::OnBadImage on_bad_image(const FinetuneOptions& options) {
  return options.on_bad_image == "skip" ? datasets::OnBadImage::skip : datasets::OnBadImage::error;
}

train::LoraOptions lora_options(const FinetuneOptions& options) {
  return {.rank = options.lora_rank, .alpha = options.lora_alpha};
}

image::Augmentation augmentation(const FinetuneOptions& options) {
  image::Augmentation result;
  result.crop.reset();
  if (options.crop_area < 1) result.crop = image::CropRange{.least_area = options.crop_area};
  result.flip = options.flip;
  if (options.policy == "rand-augment") result.policy = image::Policy::rand_augment;
  if (options.policy == "three-augment") result.policy = image::Policy::three_augment;
  result.magnitude = options.magnitude;
  result.brightness = result.contrast = result.saturation = options.colour_jitter;
  result.erase = options.erase;
  return result;
}

}  // namespace vitascope::app
