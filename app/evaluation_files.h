#pragma once

#include <string>

#include "app/evaluation_result.h"
#include "datasets/labelled_images.h"

/// \file
/// What an evaluation found, as a folder of files.
namespace vitascope::app {

/// Fails early where a file would be overwritten, or the folder can't be made.
/// \throws UsageError
void prepare_evaluation_folder(const std::string& folder, bool force);

/// Writes evaluation.json, evaluation.csv, predictions.csv and, of one label a photo,
/// confusion.csv, confusion.png, reliability.png and, when there are any, mistakes.jpg. \param
/// quiet say nothing of a font that is missing
void write_evaluation(const std::string& folder, const EvaluationResult& result,
                      const datasets::LabelledImages& images, const image::DecodeOptions& decode,
                      bool force, bool quiet);

}  // namespace vitascope::app
