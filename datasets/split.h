#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/labelled_images.h"

/// \file
/// Which pictures are for training and which for validation.
namespace vitascope::datasets {

/// Pictures of a class by split, indexed by Split.
using SplitCounts = std::array<std::size_t, 4>;

/// For every class the pictures that show it. [classes]
std::vector<SplitCounts> count_classes(const LabelledImages& images);

/// Pictures by split, whatever their labels.
SplitCounts count_splits(const LabelledImages& images);

/// The pictures of a split: ascending indices.
std::vector<std::size_t> samples_of(const LabelledImages& images, Split split);

/// Moves `fraction` of the pictures that are for training, or for nothing in particular, to
/// validation, and makes the others training: of each class its share, rounded; at least one of a
/// class that has two, never all. With several labels a picture the rarest label chooses first
/// (Sechidis et al. 2011). Which pictures go depends on the seed, their file and their folder's
/// name only: the same ones go wherever the data lies, and new photos leave the choice of others
/// nearly as it was.
/// \throws UsageError when the fraction is not inside (0, 1) or nothing would be left to validate
void split_validation(LabelledImages& images, double fraction, std::uint64_t seed);

/// A line for every class that is in train and not in validation or the other way round, where
/// there are both.
std::vector<std::string> uneven_classes(const LabelledImages& images);

}  // namespace vitascope::datasets
