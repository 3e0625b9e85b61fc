#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/golden.h"
#include "vit/json.h"
#include "vit/metrics/caption_tokens.h"

/// \file
/// The captions of tests/golden/caption_metrics and what coco-caption says of them.
namespace vitascope::metrics::tests {

/// Of the figures.
inline constexpr double kFigure = 1e-6;

/// Read once.
inline const Json& golden_captions() {
  static const Json captions = read_json(vitascope::tests::golden("caption_metrics/captions.json"));
  return captions;
}

/// One of its corpora, and the captions as numbers.
struct GoldenCorpus {
  Json expected;
  std::vector<Sentence> candidates;
  std::vector<std::vector<Sentence>> references;
};

inline GoldenCorpus golden_corpus(const std::string& name) {
  GoldenCorpus corpus;
  for (const Json& each : golden_captions().at("corpora"))
    if (each.at("name") == name) corpus.expected = each;
  WordNumbers numbers;
  for (const Json& id : corpus.expected.at("ids")) {
    const Json& images = golden_captions().at("images");
    const auto image = std::find_if(images.begin(), images.end(),
                                    [&](const Json& each) { return each.at("id") == id; });
    std::vector<Sentence>& references = corpus.references.emplace_back();
    for (const Json& reference : image->at("references"))
      references.push_back(numbers.sentence(reference.get<std::string>()));
    corpus.candidates.push_back(corpus.expected.contains("candidate_is_reference")
                                    ? references.at(corpus.expected.at("candidate_is_reference"))
                                    : numbers.sentence(image->at("candidate").get<std::string>()));
  }
  if (corpus.candidates.empty()) throw std::out_of_range("no golden corpus " + name);
  return corpus;
}

}  // namespace vitascope::metrics::tests
