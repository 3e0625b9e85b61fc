#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "vit/metrics/caption_tokens.h"

/// \file
/// The n-grams of a caption, one to four words, which BLEU and CIDEr count.
namespace vitascope::metrics {

/// Words of the longest n-gram.
inline constexpr std::size_t kLongestNgram = 4;
/// Stands behind the words of a shorter one.
inline constexpr Word kNoWord = -1;

/// One to four words.
using Ngram = std::array<Word, kLongestNgram>;

/// How often an n-gram stands in a caption.
struct NgramCount {
  Ngram words;
  int count = 0;
};

/// How many words it has.
inline std::size_t order_of(const Ngram& ngram) {
  return static_cast<std::size_t>(std::find(ngram.begin(), ngram.end(), kNoWord) - ngram.begin());
}

/// All n-grams of a sentence, ascending by their words, each once.
std::vector<NgramCount> count_ngrams(const Sentence& sentence);

/// Calls `visit(a's entry, b's entry)` for every n-gram that both have.
/// \param a, b ascending by `words`
template <typename A, typename B, typename Visit>
void for_each_shared(const A& a, const B& b, const Visit& visit) {
  auto other = b.begin();
  for (const auto& one : a) {
    while (other != b.end() && other->words < one.words) ++other;
    if (other == b.end()) return;
    if (other->words == one.words) visit(one, *other);
  }
}

}  // namespace vitascope::metrics
