#pragma once

#include <string>
#include <vector>

#include "vit/json.h"

/// \file
/// Names of classes, in the order of the head: from a model's own configuration, from a file, or
/// the built-in lists of ImageNet.
namespace vitascope::weights {

/// transformers' id2label: {"0": "cat", "1": "dog", ...}, ordered by number ("10" after "9").
/// \return one label a class; empty when there is none, or only the placeholders LABEL_0, LABEL_1
/// \throws InputError when a key is no number, stands for the same class as another, leaves a gap
///         or when a label is no text
std::vector<std::string> labels_from_id2label(const Json& id2label, const std::string& path);

/// timm's label_names: a list, or {"0": "cat", ...}. Where the names are WordNet ids (n02123045)
/// and `descriptions` explains them, the descriptions are taken. \throws InputError as above
std::vector<std::string> labels_from_timm(const Json& names, const Json& descriptions,
                                          const std::string& path);

/// A text file, one label a line; empty lines at the end don't count.
/// \throws InputError when it can't be read, is empty, has an empty line in between, or has not
///         `classes` lines
std::vector<std::string> read_labels(const std::string& path, int classes);

/// The list of ImageNet's classes that comes with this program for a head of that size
/// ("imagenet-1k", "imagenet-21k", ...), or "".
std::string built_in_list(int classes);

/// The labels of a list that comes with this program.
/// \return empty when it is not installed
std::vector<std::string> built_in_labels(const std::string& list);

/// The folder of this program's data: $VITASCOPE_SHARE, else `share` beside the program or library
/// (a build tree), else `../share/vitascope`.
std::string share_folder();

}  // namespace vitascope::weights
