#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/evaluation.h"
#include "app/recipe.h"
#include "app/run_log.h"
#include "datasets/labelled_images.h"
#include "vit/weights/model_directory.h"

/// \file
/// What a trained model is and how good, as the README.md that its folder opens with (Mitchell et
/// al. 2019, "Model Cards for Model Reporting", arXiv:1810.03993), with the front matter of Hugging
/// Face's Hub.
namespace vitascope::app {

/// What a card says of the model itself.
struct ModelFacts {
  model::Config config;
  std::optional<image::Size> input{};  ///< nothing when it depends on the photo
  std::string preparation{};           ///< of photos, in words
  weights::Layout layout = weights::Layout::transformers;
  bool fits_timm = false;  ///< `convert --layout timm` can express it
};

/// \throws UsageError when the model can be saved in no layout
ModelFacts facts_of(const weights::Model& model);

/// Where a model came from: a repository of the Hub, or a file or folder, without its path; or
/// nowhere, when it learned from random weights.
struct BaseModel {
  std::string name;  ///< empty: none
  bool on_hub = false;
};

/// \param model what --model said, or empty
BaseModel base_model(const std::string& model);

/// What a card is written from. Its parts must outlive it.
struct ModelCard {
  const std::string& folder;  ///< of the model; its last name is that of the card
  BaseModel base;
  const std::string& method;  ///< full, lora, ...
  const ModelFacts& facts;
  const datasets::LabelledImages& images;
  const std::string& data;                  ///< what --data said, of which the last name is shown
  const std::string& fingerprint;           ///< of the photos, labels and splits
  const std::vector<OptionValue>& options;  ///< that were changed
  std::uint64_t seed = 0;
  std::int64_t resamples = 0;  ///< of the bootstrap behind the intervals
  const std::vector<LogRow>& rows;
  const Answers& answers;  ///< to the photos of validation
  const Evaluation& evaluation;
  bool confusions = false;  ///< confusions.png lies beside
};

/// The card, in Markdown.
std::string model_card(const ModelCard& card);

/// Text of a file as plain text of Markdown, on one line.
std::string markdown_text(const std::string& text);

}  // namespace vitascope::app
