#pragma once

#include <optional>

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

/// Of the `pairs` most frequent confusions the most confident mistakes, three side by side, as far
/// as the evaluation kept them; nothing where none was made. A photo that can't be decoded again is
/// left out.
std::optional<drawing::Canvas> draw_confused(const EvaluationResult& result, std::size_t pairs,
                                             const datasets::LabelledImages& images,
                                             const image::DecodeOptions& decode,
                                             const drawing::Font& font);

}  // namespace vitascope::app
