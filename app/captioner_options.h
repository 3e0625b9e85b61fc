#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "app/options.h"
#include "vit/caption/caption_learner.h"
#include "vit/caption/config.h"
#include "vit/caption/encoder.h"
#include "vit/train/trainer.h"

/// \file
/// The flags of `train-captioner`, and what they say to training.
namespace vitascope::app {

/// What the flags say.
struct CaptionerOptions {
  std::string data, photos, encoder, start, output;
  double val_fraction = 0.1;
  int min_count = 5;
  int stride = 0;
  std::string input_size;
  bool whole_photo = false;
  std::string cache = "disk";  ///< none | disk
  bool allow_truncated = false;
  double max_pixels = 180;

  std::string decoder = "lstm", attention = "soft", score = "additive", window = "global";
  double half_width = 2;
  int hidden_size = 512, embedding_size = 512, attention_size = 512, attention_heads = 8;
  std::string word_output = "deep_tanh";
  bool no_gate = false, coordinates = false;
  int layers = 4, mlp_size = 2048;

  int epochs = 20;
  double rate = 4e-4, weight_decay = 0, warmup_epochs = 0, clip_norm = 5, ema = 0;
  std::string decay = "cosine";
  double penalty = 1, focus = 0, dropout = 0.5, own_words = 0, half_expected = 0.5, entropy = 0.01;
  bool self_critical = false;
  std::string metric = "bleu4";
  int patience = 0;
  int beam = 1, longest = 20;

  RunOptions run{.batch_size = 64};
  std::uint64_t seed = 0;
  bool resume = false, force = false;
};

/// Declares all of them.
void add_captioner_options(CLI::App& command, CaptionerOptions& options);

/// \throws UsageError when something is missing or contradicts something else
void check_captioner_options(const CaptionerOptions& options);

/// The decoder, completed.
/// \param annotation_width of the encoder
caption::DecoderConfig decoder_config(const CaptionerOptions& options, std::int64_t vocabulary,
                                      std::int64_t annotation_width);

/// How the encoder is opened.
caption::EncoderOptions encoder_options(const CaptionerOptions& options);

/// How the decoder learns.
caption::CaptionLearning caption_learning(const CaptionerOptions& options);

/// \param batches of an epoch
train::TrainerOptions trainer_options(const CaptionerOptions& options, std::int64_t batches);

}  // namespace vitascope::app
