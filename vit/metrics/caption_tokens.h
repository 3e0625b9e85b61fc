#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// \file
/// Captions as words, and words as numbers. How a caption is cut into words changes every figure,
/// so the rule has a name that is printed beside them.
namespace vitascope::metrics {

/// The name of the rule that tokenize() follows.
inline constexpr const char* kTokenisation = "vt-simple-1";
/// The rule in words.
inline constexpr const char* kTokenisationRule =
    "A to Z become lower case; ASCII punctuation is a space, but for ' and - between two letters "
    "or "
    "digits; split at white space";

/// The words of a caption: A to Z become lower case; a byte of ASCII punctuation becomes a space,
/// unless it is ' or - with an ASCII letter, an ASCII digit or a byte of another character on both
/// sides; split at ASCII white space. (coco-caption's PTB tokeniser also splits "cat's" and
/// "don't".)
std::vector<std::string> tokenize(std::string_view caption);

/// A word as a number from 0 on; metrics compare nothing else.
using Word = std::int32_t;
/// A caption as words.
using Sentence = std::vector<Word>;

/// Gives every word a number, in the order in which they come.
class WordNumbers {
 public:
  /// The number of the word; of a new one the next.
  Word number(std::string_view word);
  /// The numbers of a caption's words, cut by tokenize().
  Sentence sentence(std::string_view caption);
  /// How many words there are.
  std::size_t size() const { return numbers_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const {
      return std::hash<std::string_view>()(word);
    }
  };
  std::unordered_map<std::string, Word, Hash, std::equal_to<>> numbers_;
};

}  // namespace vitascope::metrics
