#include "vit/caption/captioning.h"

#include <ATen/ATen.h>

#include <utility>

namespace vitascope::caption {
namespace {

/// The decoder as a search sees it, which remembers where every row of every call looked.
class Speaker {
 public:
  Speaker(const Decoder& decoder, DecoderState start, RandomNumbers* random)
      : decoder_(decoder), state_(std::move(start)), random_(random) {}

  at::Tensor next(at::IntArrayRef tokens, at::IntArrayRef parents) {
    if (state_.step > 0) reorder(state_, parents);
    NextWord word = decoder_.step(tokens, state_, random_);
    at::Tensor logits = std::move(word.logits);
    said_.push_back(std::move(word));
    return logits.log_softmax(-1);
  }

  Caption caption(Hypothesis sentence) const {
    std::vector<at::Tensor> weights, places;
    weights.reserve(sentence.rows.size());
    places.reserve(sentence.rows.size());
    for (std::size_t t = 0; t < sentence.rows.size(); ++t) {
      weights.push_back(said_[t].weights[sentence.rows[t]]);
      if (said_[t].place.defined()) places.push_back(said_[t].place[sentence.rows[t]]);
    }
    return {std::move(sentence), at::stack(weights).to(at::kFloat).cpu(),
            places.empty() ? at::Tensor() : at::stack(places).cpu()};
  }

 private:
  const Decoder& decoder_;
  DecoderState state_;
  RandomNumbers* random_;
  std::vector<NextWord> said_;  ///< of each call, without logits
};

NextToken token_function(Speaker& speaker) {
  return [&speaker](at::IntArrayRef tokens, at::IntArrayRef parents) {
    return speaker.next(tokens, parents);
  };
}

}  // namespace

std::vector<std::vector<Caption>> captions_of(const Decoder& decoder,
                                              const Annotations& annotations,
                                              const BeamOptions& options, RandomNumbers* random) {
  return captions_from(decoder, decoder.start(annotations), options, random);
}

std::vector<std::vector<Caption>> captions_from(const Decoder& decoder, DecoderState start,
                                                const BeamOptions& options, RandomNumbers* random) {
  const std::int64_t photos = start.rows.photos();
  Speaker speaker(decoder, std::move(start), random);
  std::vector<std::vector<Caption>> result;
  for (std::vector<Hypothesis>& of_photo : beam_search(token_function(speaker), photos, options)) {
    std::vector<Caption>& captions = result.emplace_back();
    captions.reserve(of_photo.size());
    for (Hypothesis& sentence : of_photo) captions.push_back(speaker.caption(std::move(sentence)));
  }
  return result;
}

std::vector<Caption> drawn_captions(const Decoder& decoder, const Annotations& annotations,
                                    std::vector<RandomNumbers>& words,
                                    const SamplingOptions& options, RandomNumbers* random) {
  Speaker speaker(decoder, decoder.start(annotations), random);
  std::vector<Caption> captions;
  captions.reserve(words.size());
  for (Hypothesis& sentence : sample(token_function(speaker), words, options)) {
    captions.push_back(speaker.caption(std::move(sentence)));
  }
  return captions;
}

}  // namespace vitascope::caption
