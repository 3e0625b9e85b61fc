#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "app/options.h"
#include "app/scratch_network.h"
#include "datasets/training_loader.h"
#include "vit/train/classifier_learner.h"
#include "vit/train/lora.h"
#include "vit/train/trainer.h"

/// \file
/// The flags of `finetune`, and what they say to training.
namespace vitascope::app {

/// What the flags say.
struct FinetuneOptions {
  ModelOptions model;
  ScratchOptions scratch;
  RunOptions run{.batch_size = 16};
  std::string data, output;
  double val_fraction = 0.2;
  bool resume = false, force = false, skip_check = false;
  std::string cache;  ///< none | ram | disk; empty: by method

  std::string method = "full";
  bool new_head = false;
  int lora_rank = 16;
  double lora_alpha = 32;
  int neighbours = 20;
  double temperature = 0.07;  ///< of the neighbours' votes
  int epochs = 10;
  std::optional<double> rate;  ///< nothing: by method
  double head_rate = 1e-3;
  double layer_decay = 0.75, weight_decay = 0.05;
  double warmup_epochs = 0.5;
  std::string decay = "cosine";
  std::string optimizer = "adamw";
  int accumulation = 1;
  double clip_norm = 1;
  std::string loss = "auto";
  double focal_gamma = 2;
  std::optional<double> label_smoothing;  ///< nothing: by method
  std::string class_weights = "none", sampling = "natural";
  double ema = 0, mixup = 0, cutmix = 0, drop_path = 0, dropout = 0;
  bool recompute = false;
  std::string metric = "accuracy";
  int patience = 0;

  double crop_area = 0.5, flip = 0.5;
  std::string policy = "none";
  double magnitude = 9, colour_jitter = 0, erase = 0;
  std::string on_bad_image = "error";
  bool allow_truncated = false;
  double max_pixels = 180;
  std::uint64_t seed = 0;
  int processes = 1;
};

/// Declares all of them.
void add_finetune_options(CLI::App& command, FinetuneOptions& options);

/// \throws UsageError when something is missing or contradicts something else
void check_finetune_options(const FinetuneOptions& options);

/// \throws UsageError when an option is for data of the other kind
/// \param multi_label whether the photos have any number of labels each
void check_options_for(const FinetuneOptions& options, bool multi_label);

/// Whether features are computed once: then the network itself learns nothing.
bool is_frozen(const FinetuneOptions& options);

/// The learning rate of all but the head.
double base_rate(const FinetuneOptions& options);

/// Updates of an epoch.
/// \param batches of it
std::int64_t steps_of_epoch(const FinetuneOptions& options, std::int64_t batches);

/// What the trainer is told.
/// \param batches of an epoch
train::TrainerOptions trainer_options(const FinetuneOptions& options, std::int64_t batches);

/// How the network learns; the loss is left to the data.
train::ClassifierLearning classifier_learning(const FinetuneOptions& options);

/// What is made small, without class weights, which are left to the data.
/// \throws UsageError when the loss that is asked for is one of the other kind of labels
train::LossOptions loss_options(const FinetuneOptions& options, bool multi_label);

/// What a photo that can't be decoded does.
datasets::OnBadImage on_bad_image(const FinetuneOptions& options);

/// \see train::add_lora
train::LoraOptions lora_options(const FinetuneOptions& options);

/// How photos are changed while learning.
image::Augmentation augmentation(const FinetuneOptions& options);

}  // namespace vitascope::app
