#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/evaluation.h"
#include "app/label_match.h"
#include "app/options.h"
#include "app/photo_run.h"
#include "datasets/labelled_images.h"

/// \file
/// From a labelled data set and a model to the model's answers beside the truth.
namespace vitascope::app {

/// Photos of a data set that are evaluated.
struct SelectedPhotos {
  std::string split;                 ///< train, validation, test or all
  std::vector<std::size_t> samples;  ///< ascending indices
};

/// Opens what a command was given as data.
/// \throws UsageError when nothing was, or it can't be opened at all: exit status 2
datasets::LabelledImages open_data(const std::string& path);

/// The samples of a split; of an empty name: validation where there is one, else test, else all.
/// \throws UsageError when the data have no labels or no such split
SelectedPhotos select_split(const datasets::LabelledImages& images, const std::string& split);

/// Answers and how the run over the photos ended.
struct LabelledRun {
  Answers answers;
  RunReport report;
};

/// No answers yet, of a model that is asked about these pictures.
Answers no_answers(const weights::Model& model, const datasets::LabelledImages& images);

/// The model's classes that a photo shows, each once, ascending.
std::vector<std::int64_t> truth_of(const datasets::Sample& sample, const LabelMatch& match);

/// Adds what the model says of a sample.
/// \param index of the sample in `images`
/// \throws InputError when the model gives no finite numbers, or the sample has no label
void add_answer(const PhotoResult& photo, std::size_t index, const datasets::LabelledImages& images,
                const LabelMatch& match, Answers& answers);

/// Runs the selected photos through a model. Photos that fail are named on stderr, not counted.
LabelledRun run_labelled(const weights::Model& model, const LabelMatch& match,
                         const std::shared_ptr<const datasets::LabelledImages>& images,
                         const SelectedPhotos& photos, const RunOptions& run,
                         const PhotoOptions& photo_options);

}  // namespace vitascope::app
