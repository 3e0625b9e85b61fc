#include "vit/caption/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vit/error.h"
#include "vit/file.h"
#include "vit/json_object.h"
#include "vit/text.h"

namespace vitascope::caption {
namespace {

/// Whether a word can stand in a sentence and in a file.
bool is_writable(const std::string& word) {
  return !word.empty() && word.size() <= kLongestWord && word.find(' ') == std::string::npos &&
         printable(word) == word;
}

bool is_special(std::string_view word) { return std::ranges::count(kSpecialTokens, word) > 0; }

void check(const VocabularyLimits& limits) {
  constexpr std::size_t kMost = kLargestVocabulary - kSpecialTokens.size();
  if (limits.least_count < 1) {
    throw UsageError(fmt::format("words that occur {} times can't be asked for: expected 1 or more",
                                 limits.least_count));
  }
  if (limits.most_words < 1 || limits.most_words > kMost) {
    throw UsageError(fmt::format("a vocabulary of {} words can't be made: expected 1 to {}",
                                 limits.most_words, kMost));
  }
}

using Count = std::pair<std::string, std::int64_t>;

/// The words that are frequent enough, in the vocabulary's order.
std::vector<Count> frequent(const std::vector<Words>& captions, const VocabularyLimits& limits) {
  std::unordered_map<std::string, std::int64_t> counts;
  for (const Words& words : captions) {
    for (const std::string& word : words) ++counts[word];
  }
  std::erase_if(counts, [&](const auto& entry) {
    return entry.second < limits.least_count || !is_writable(entry.first) ||
           is_special(entry.first);
  });
  std::vector<Count> sorted(counts.begin(), counts.end());
  std::ranges::sort(sorted, [](const Count& a, const Count& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (sorted.size() > limits.most_words) sorted.resize(limits.most_words);
  return sorted;
}

Words special_tokens() { return {kSpecialTokens.begin(), kSpecialTokens.end()}; }

/// One entry of a file's list.
std::string word_at(const Json& list, std::size_t place, const std::string& path) {
  const Json& entry = list[place];
  const bool special = place < kSpecialTokens.size();
  std::string expected = special ? fmt::format("'{}'", kSpecialTokens[place])
                                 : fmt::format(
                                       "a word of 1 to {} bytes without spaces and control "
                                       "characters, and no special token",
                                       kLongestWord);
  if (entry.is_string()) {
    std::string word = entry.get<std::string>();
    if (special ? word == kSpecialTokens[place] : is_writable(word) && !is_special(word)) {
      return word;
    }
    if (word.size() > 60) word = word.substr(0, 60) + "...";
    throw InputError(path, fmt::format("'words' has '{}' at position {}: expected {}",
                                       printable(word), place, expected));
  }
  throw InputError(path, fmt::format("'words' has an entry that is no text at position {}: "
                                     "expected {}",
                                     place, expected));
}

}  // namespace

Vocabulary::Vocabulary(std::string tokenizer, Words words)
    : tokenizer_(std::move(tokenizer)), words_(std::move(words)) {
  ids_.reserve(words_.size());
  for (std::size_t id = kSpecialTokens.size(); id < words_.size(); ++id) {
    ids_.emplace(words_[id], static_cast<std::int64_t>(id));
  }
}

Vocabulary Vocabulary::build(const std::vector<Words>& captions, const VocabularyLimits& limits,
                             std::string tokenizer) {
  check(limits);
  const std::vector<Count> counts = frequent(captions, limits);
  if (counts.empty()) {
    throw UsageError(
        fmt::format("no word occurs {} times in the {} captions: expected a lower "
                    "count, or more captions",
                    limits.least_count, captions.size()));
  }
  Words words = special_tokens();
  words.reserve(words.size() + counts.size());
  for (const auto& [word, count] : counts) words.push_back(word);
  return {std::move(tokenizer), std::move(words)};
}

Vocabulary Vocabulary::parse(const Json& json, const std::string& path) {
  const JsonObject object(json, path);
  std::string tokenizer = object.text("tokenizer");
  if (tokenizer.empty()) object.fail("tokenizer", "the name of the rule that made the words");
  const Json& list = object.value("words");
  if (!list.is_array()) object.fail("words", "a list of words");
  if (list.size() <= kSpecialTokens.size() || list.size() > kLargestVocabulary) {
    throw InputError(path, fmt::format("'words' has {} entries: expected {} special tokens and at "
                                       "least one word, at most {} in all",
                                       list.size(), kSpecialTokens.size(), kLargestVocabulary));
  }
  Words words;
  words.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) words.push_back(word_at(list, i, path));
  Vocabulary vocabulary(std::move(tokenizer), std::move(words));
  if (vocabulary.ids_.size() + kSpecialTokens.size() == vocabulary.words_.size()) return vocabulary;
  for (std::int64_t id = kUnknown + 1;; ++id) {  // some word gives way to an earlier one
    const std::int64_t first = vocabulary.ids_.at(vocabulary.word(id));
    if (first == id) continue;
    throw InputError(path, fmt::format("'words' has '{}' at positions {} and {}: expected each "
                                       "word once",
                                       vocabulary.word(id), first, id));
  }
}

Vocabulary Vocabulary::open(const std::string& path) { return parse(read_json(path), path); }

Json Vocabulary::to_json() const { return {{"tokenizer", tokenizer_}, {"words", words_}}; }

void Vocabulary::save(const std::string& path, bool force) const {
  write_file(path, force, to_json().dump(1) + "\n");
}

const std::string& Vocabulary::word(std::int64_t id) const {
  return words_.at(static_cast<std::size_t>(id));
}

std::int64_t Vocabulary::id(const std::string& word) const {
  const auto found = ids_.find(word);
  return found == ids_.end() ? kUnknown : found->second;
}

std::vector<std::int64_t> Vocabulary::encode(const Words& words) const {
  std::vector<std::int64_t> ids;
  ids.reserve(words.size() + 2);
  ids.push_back(kStart);
  for (const std::string& word : words) ids.push_back(id(word));
  ids.push_back(kEnd);
  return ids;
}

Words Vocabulary::decode(const std::vector<std::int64_t>& ids) const {
  Words words;
  words.reserve(ids.size());
  for (const std::int64_t id : ids) {
    if (id == kEnd) break;
    if (id != kPad && id != kStart) words.push_back(word(id));
  }
  return words;
}

}  // namespace vitascope::caption
