#pragma once

#include "app/drawing/canvas.h"
#include "app/drawing/text.h"
#include "app/evaluation_result.h"
#include "datasets/labelled_images.h"

/// \file
/// What an evaluation found, as pictures. All are of one label a photo.
namespace vitascope::app {

/// The confusion matrix: of each true class the shares of what it was taken for.
drawing::Canvas draw_confusion(const EvaluationResult& result, const drawing::Font& font);

/// The reliability diagram: how often the model is right where it is so sure.
drawing::Canvas draw_reliability(const EvaluationResult& result, const drawing::Font& font);

/// The mistakes as a contact sheet; there must be one at least.
/// \throws InputError when a photo can't be decoded again
drawing::Canvas draw_mistakes(const EvaluationResult& result,
                              const datasets::LabelledImages& images,
                              const image::DecodeOptions& decode, const drawing::Font& font);

}  // namespace vitascope::app
