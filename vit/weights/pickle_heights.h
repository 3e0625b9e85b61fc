#pragma once

#include <unordered_map>

#include "vit/weights/pickle.h"

/// \file
/// How deep the values of a pickle are nested.
namespace vitascope::weights {

/// How many levels each value has below itself.
using PickleHeights = std::unordered_map<const PickleValue*, int>;

/// Measures all values that `root` reaches.
/// \throws std::length_error in words when they are nested more than kPickleDepth levels deep, as
///         they are when one holds itself
PickleHeights measure_heights(const PicklePtr& root);

}  // namespace vitascope::weights
