#pragma once

#include <string>

#include "datasets/labelled_images.h"

/// \file
/// A folder for each class, the layout of torchvision's ImageFolder.
namespace vitascope::datasets {

/// Reads ROOT/CLASS/... or ROOT/{train,validation,test}/CLASS/..., with the spellings of
/// parse_split. Pictures are found at any depth below their class; hidden files are ignored. A
/// folder that holds nothing but pictures gives pictures without labels. Classes without a single
/// picture and pictures beside class folders are left out and noted. \throws InputError when there
/// are no pictures at all, or a split holds pictures but no classes
LabelledImages read_class_folders(const std::string& root);

}  // namespace vitascope::datasets
