#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vit/json.h"

/// \file
/// The words that a captioner knows, and their numbers.
namespace vitascope::caption {

/// Numbers of the special tokens in every vocabulary, and how they are spelt.
inline constexpr std::int64_t kPad = 0, kStart = 1, kEnd = 2, kUnknown = 3;
inline constexpr std::array<std::string_view, 4> kSpecialTokens{"<pad>", "<start>", "<end>",
                                                                "<unk>"};

/// A caption as words; which rule made them is the vocabulary's `tokenizer`.
using Words = std::vector<std::string>;

/// Most words that a vocabulary may have, special tokens included.
inline constexpr std::size_t kLargestVocabulary = 1'000'000;
/// Most bytes of one word.
inline constexpr std::size_t kLongestWord = 256;

/// Which words of the captions enter a vocabulary.
struct VocabularyLimits {
  std::int64_t least_count = 5;  ///< times that a word stands in all captions together
  std::size_t most_words = kLargestVocabulary - kSpecialTokens.size();  ///< the most frequent ones
};

/// Words by number: the four special tokens, then words by falling frequency, equally frequent
/// ones in the order of their bytes.
class Vocabulary {
 public:
  /// Counts the words of all captions. What could not be written into a file (no UTF-8, control
  /// characters, spaces, longer than kLongestWord) and words spelt like a special token stay
  /// unknown.
  /// \param tokenizer name of the rule by which captions became words
  /// \throws UsageError when no word is frequent enough, or the limits make no sense
  static Vocabulary build(const std::vector<Words>& captions, const VocabularyLimits& limits,
                          std::string tokenizer);

  /// From {"tokenizer": name, "words": [...]}, as to_json gives it.
  /// \throws InputError that names `path` and the word: the special tokens are not the first four,
  ///         a word stands twice, is empty, no text, ..., or there are none or too many
  static Vocabulary parse(const Json& json, const std::string& path);
  /// \throws InputError as parse, or when the file can't be read
  static Vocabulary open(const std::string& path);

  Json to_json() const;
  /// \throws UsageError, FailureError as write_file does
  void save(const std::string& path, bool force) const;

  /// Number of words, special tokens included: the decoder's last dimension.
  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }
  const std::string& tokenizer() const { return tokenizer_; }
  /// \throws std::out_of_range when there is no such number
  const std::string& word(std::int64_t id) const;
  /// kUnknown for a word that it does not know, and for the spelling of a special token.
  std::int64_t id(const std::string& word) const;

  /// kStart, the words, kEnd.
  std::vector<std::int64_t> encode(const Words& words) const;
  /// The words up to the first kEnd, without kPad and kStart; kUnknown comes out as "<unk>".
  /// \throws std::out_of_range when a number is none of the vocabulary's
  Words decode(const std::vector<std::int64_t>& ids) const;

  bool operator==(const Vocabulary& other) const {
    return tokenizer_ == other.tokenizer_ && words_ == other.words_;
  }

 private:
  Vocabulary(std::string tokenizer, Words words);

  std::string tokenizer_;
  Words words_;
  std::unordered_map<std::string, std::int64_t> ids_;  ///< without the special tokens
};

}  // namespace vitascope::caption
