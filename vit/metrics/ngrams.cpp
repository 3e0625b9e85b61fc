#include "vit/metrics/ngrams.h"

namespace vitascope::metrics {

std::vector<NgramCount> count_ngrams(const Sentence& sentence) {
  std::vector<Ngram> all;
  all.reserve(sentence.size() * kLongestNgram);
  for (std::size_t begin = 0; begin < sentence.size(); ++begin) {
    Ngram ngram{kNoWord, kNoWord, kNoWord, kNoWord};
    for (std::size_t n = 0; n < kLongestNgram && begin + n < sentence.size(); ++n) {
      ngram[n] = sentence[begin + n];
      all.push_back(ngram);
    }
  }
  std::sort(all.begin(), all.end());
  std::vector<NgramCount> counts;
  counts.reserve(all.size());
  for (const Ngram& ngram : all) {
    if (counts.empty() || counts.back().words != ngram) counts.push_back({ngram, 0});
    ++counts.back().count;
  }
  return counts;
}

}  // namespace vitascope::metrics
