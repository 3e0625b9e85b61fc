#pragma once

#include <memory>
#include <string>

#include "vit/weights/stored_tensors.h"

/// \file
/// NumPy's .npz archives, as the AugReg checkpoints come.
namespace vitascope::weights {

/// Reads an .npz: a zip of .npy arrays (little-endian floats and integers, C or Fortran order).
/// Object arrays are refused, since they are pickles.
/// \throws InputError naming file, entry and byte offset
StoredTensors read_npz(const std::string& path);

/// The same over bytes in memory.
StoredTensors parse_npz(Bytes file, const std::string& path, std::shared_ptr<const void> owner);

}  // namespace vitascope::weights
