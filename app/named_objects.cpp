#include "app/named_objects.h"

#include <algorithm>

#include "vit/metrics/caption_tokens.h"

namespace vitascope::app {
namespace {

/// Whether `word` is `plural` for one `noun`.
bool is_plural(const std::string& word, const std::string& noun) {
  if (noun == "person") return word == "people";
  if (noun == "mouse") return word == "mice";
  const auto with = [&](const std::string& ending, const std::string& instead) {
    return noun.ends_with(ending) && word == noun.substr(0, noun.size() - ending.size()) + instead;
  };
  return with("", "s") || with("", "es") || with("y", "ies") || with("fe", "ves");
}

/// Whether the name ends at this word.
bool ends_at(const std::vector<std::string>& words, std::size_t last,
             const std::vector<std::string>& name) {
  if (name.empty() || name.size() > last + 1) return false;
  const auto begin = words.begin() + static_cast<std::ptrdiff_t>(last + 1 - name.size());
  return std::equal(name.begin(), name.end() - 1, begin) &&
         (words[last] == name.back() || is_plural(words[last], name.back()));
}

}  // namespace

std::vector<NamedObject> named_objects(const std::vector<std::string>& words,
                                       const std::vector<std::string>& categories) {
  std::vector<NamedObject> found;
  for (std::size_t last = 0; last < words.size(); ++last) {
    std::size_t longest = 0;
    NamedObject named{.word = last, .category = ""};
    for (const std::string& category : categories) {
      const std::vector<std::string> name = metrics::tokenize(category);
      if (name.size() <= longest || !ends_at(words, last, name)) continue;
      longest = name.size();
      named.category = category;
    }
    if (longest > 0) found.push_back(std::move(named));
  }
  return found;
}

}  // namespace vitascope::app
