#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "datasets/labelled_images.h"

/// \file
/// Which class of a model each class of a data set is: by name, never by position.
namespace vitascope::app {

/// Of each class of the data its class of the model; nothing for classes that no photo shows.
using LabelMatch = std::vector<std::optional<std::int64_t>>;

/// From a name in the data to the model's name for it.
using LabelMap = std::map<std::string, std::string>;

/// Reads a table (.csv, .jsonl) with the columns `data` and `model`. Several data labels may go to
/// one model label and are one class then.
/// \throws UsageError when the table has other columns, an empty name, or names a data label twice
LabelMap read_label_map(const std::string& path);

/// The model's label with this name: the same one, else the same but for the case of ASCII letters;
/// nothing where there is none, or more than one.
std::optional<std::int64_t> find_label(const std::string& name,
                                       const std::vector<std::string>& labels);

/// Finds the classes that `samples` show among the model's labels.
/// \param map names that differ; a class that it lacks is looked up by its own name
/// \throws UsageError that lists the classes without a label, and the nearest label of each
LabelMatch match_labels(const datasets::LabelledImages& images,
                        const std::vector<std::size_t>& samples,
                        const std::vector<std::string>& labels, const LabelMap& map);

}  // namespace vitascope::app
