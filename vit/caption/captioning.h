#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "vit/caption/beam_search.h"
#include "vit/caption/decoder.h"
#include "vit/caption/sampling.h"

/// \file
/// A decoder's sentences about photos, and where each of their words looked.
namespace vitascope::caption {

/// What is said of a photo.
struct Caption {
  Hypothesis sentence;
  at::Tensor weights;   ///< float32 [T, L] on the CPU: where each token looked, <end> included
  at::Tensor places{};  ///< int64 [T] on the CPU: what hard attention took; undefined: it is soft
};

/// The best sentences of each photo, best first.
/// \param random given: hard attention draws the places, else it takes the likeliest
/// \throws UsageError, FailureError as beam_search does
std::vector<std::vector<Caption>> captions_of(const Decoder& decoder,
                                              const Annotations& annotations,
                                              const BeamOptions& options,
                                              RandomNumbers* random = nullptr);

/// The same from a state that was altered after Decoder::start; no word has been said.
std::vector<std::vector<Caption>> captions_from(const Decoder& decoder, DecoderState start,
                                                const BeamOptions& options,
                                                RandomNumbers* random = nullptr);

/// One drawn sentence of each photo.
/// \param words draws the words, one generator a photo
/// \throws UsageError, FailureError as sample does
std::vector<Caption> drawn_captions(const Decoder& decoder, const Annotations& annotations,
                                    std::vector<RandomNumbers>& words,
                                    const SamplingOptions& options,
                                    RandomNumbers* random = nullptr);

}  // namespace vitascope::caption
