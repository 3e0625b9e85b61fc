#pragma once

#include <string>

#include "datasets/labelled_images.h"

/// \file
/// CIFAR-10 and CIFAR-100 in their binary version.
namespace vitascope::datasets {

/// Whether the folder holds data_batch_*.bin, or CIFAR-100's train.bin.
bool is_cifar_folder(const std::string& folder);

/// Reads every batch; test_batch.bin and test.bin are the test split. Records are a label
/// (CIFAR-100: a coarse one, which is not used, and a fine one) and 32 x 32 pixels in planes. Class
/// names come from batches.meta.txt or fine_label_names.txt, in their order, which is that of the
/// labels. \throws InputError when a file is no whole number of records or a label is out of range
LabelledImages read_cifar(const std::string& folder);

}  // namespace vitascope::datasets
