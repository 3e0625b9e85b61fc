#include "vit/metrics/caption_tokens.h"

namespace vitascope::metrics {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return is_upper(c) || (c >= 'a' && c <= 'z'); }
bool beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool in_word(char c) { return is_letter(c) || is_digit(c) || beyond_ascii(c); }
bool is_punctuation(char c) { return c > ' ' && c < 0x7F && !is_letter(c) && !is_digit(c); }

/// Whether the byte at `i` ends a word.
bool separates(std::string_view text, std::size_t i) {
  const char c = text[i];
  if (!is_punctuation(c)) return is_space(c);
  if (c != '\'' && c != '-') return true;
  return i == 0 || i + 1 == text.size() || !in_word(text[i - 1]) || !in_word(text[i + 1]);
}

}  // namespace

std::vector<std::string> tokenize(std::string_view caption) {
  std::vector<std::string> words;
  bool inside = false;
  for (std::size_t i = 0; i < caption.size(); ++i) {
    if (separates(caption, i)) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    const char c = caption[i];
    words.back() += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return words;
}

Word WordNumbers::number(std::string_view word) {
  if (const auto found = numbers_.find(word); found != numbers_.end()) return found->second;
  const auto next = static_cast<Word>(numbers_.size());
  numbers_.emplace(word, next);
  return next;
}

Sentence WordNumbers::sentence(std::string_view caption) {
  const std::vector<std::string> words = tokenize(caption);
  Sentence sentence;
  sentence.reserve(words.size());
  for (const std::string& word : words) sentence.push_back(number(word));
  return sentence;
}

}  // namespace vitascope::metrics
