#pragma once

#include <string>

#include "datasets/labelled_images.h"

/// \file
/// IDX, the format of MNIST, Fashion-MNIST and EMNIST, plain or gzip.
namespace vitascope::datasets {

/// Whether the folder holds a pair *images*idx3*, *labels*idx1*.
bool is_idx_folder(const std::string& folder);

/// Reads every pair: 'train' in its name is the training split, 't10k' or 'test' the test split.
/// Class names come from classes.txt, one a line, where there is one; else they are the numbers.
/// \throws InputError when a file's length, magic number or count contradicts itself or its partner
LabelledImages read_idx(const std::string& folder);

}  // namespace vitascope::datasets
