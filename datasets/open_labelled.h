#pragma once

#include <string>

#include "datasets/labelled_images.h"

/// \file
/// One door to every kind of labelled data.
namespace vitascope::datasets {

/// Opens a table (.csv, .jsonl) or a folder and finds out what it is, in this order: CIFAR's and
/// MNIST's files, Hugging Face's metadata, a table of labels, class folders. `source` says what it
/// was taken for.
/// \throws InputError when it is none of these or contradicts itself
LabelledImages open_labelled(const std::string& path);

}  // namespace vitascope::datasets
