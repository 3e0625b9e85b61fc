#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// \file
/// Which words of a sentence name objects.
namespace vitascope::app {

/// A noun and what it names.
struct NamedObject {
  std::size_t word = 0;  ///< position of the noun: the last word of the category's name
  std::string category;
};

/// Every place where a category's name stands in the sentence, as it is or with its last word in
/// the plural: "two red circles" names "red circle", "people" a "person". Of names that end at the
/// same word the longest counts. Synonyms are not known.
/// \param words cut and in lower case, as metrics::tokenize does
std::vector<NamedObject> named_objects(const std::vector<std::string>& words,
                                       const std::vector<std::string>& categories);

}  // namespace vitascope::app
