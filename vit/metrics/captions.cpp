#include "vit/metrics/captions.h"

#include <algorithm>
#include <stdexcept>

#include "vit/metrics/rouge.h"

namespace vitascope::metrics {
namespace {

void add(const CaptionScores& image, double share, CaptionScores& corpus) {
  corpus.counts += image.counts;
  corpus.rouge_l += image.rouge_l * share;
  corpus.exact += image.exact * share;
  if (image.cider_d) corpus.cider_d = corpus.cider_d.value_or(0) + *image.cider_d * share;
}

}  // namespace

CaptionReport score_captions(std::span<const Sentence> candidates,
                             std::span<const std::vector<Sentence>> references,
                             const DocumentFrequencies* frequencies) {
  if (candidates.empty() || candidates.size() != references.size())
    throw std::invalid_argument("scoring needs captions, and references for each of them");
  const bool enough = (frequencies != nullptr ? frequencies->images() : std::ssize(references)) >=
                      kLeastCiderImages;
  std::optional<DocumentFrequencies> own;
  if (enough && frequencies == nullptr) frequencies = &own.emplace(references);
  CaptionReport report;
  report.images.reserve(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    CaptionScores& image = report.images.emplace_back();
    image.counts = bleu_counts(candidates[i], references[i]);
    image.rouge_l = rouge_l(candidates[i], references[i]);
    image.exact = std::ranges::find(references[i], candidates[i]) != references[i].end() ? 1 : 0;
    if (enough) image.cider_d = cider_d(candidates[i], references[i], *frequencies);
    add(image, 1 / static_cast<double>(candidates.size()), report.corpus);
  }
  return report;
}

}  // namespace vitascope::metrics
