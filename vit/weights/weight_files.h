#pragma once

#include <string>

#include "vit/weights/model_locator.h"
#include "vit/weights/stored_tensors.h"

/// \file
/// Weight files of any kind, and folders that hold several.
namespace vitascope::weights {

/// Reads a weight file by its kind: .safetensors, .safetensors.index.json, .npz, or torch.save's
/// .pth, .pt, .bin and .ckpt.
/// \throws InputError: as the readers do; a Git LFS pointer is named as such
StoredTensors read_weights(const std::string& path);

/// Reads the preferred weight file of a folder and makes sure that any others there hold the same
/// tensors: names, types, shapes and a sample of the bytes of each are compared, all bytes of small
/// ones. Files that can't be read or hold no vision transformer are noted and left alone, unless it
/// is the one that libraries would take. What was read comes to stand first in `files.weights`.
/// \throws InputError naming both files when they differ
StoredTensors read_agreeing_weights(ModelFiles& files);

}  // namespace vitascope::weights
