#pragma once

#include <string>
#include <vector>

#include "vit/weights/stored_tensors.h"

/// \file
/// The header of NumPy's .npy format, versions 1 to 3 (NEP 1): a magic string, a length, and a
/// Python dictionary literal with the keys descr, fortran_order and shape.
namespace vitascope::weights {

/// What the header says, and how many bytes it takes with its magic.
struct NpyHeader {
  DType dtype = DType::f32;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t size = 0;
};

/// Reads the header at the beginning of `array`.
/// \throws InputError with the byte offset in `array`: no .npy, cut short, not exactly the literal
///         that NumPy writes, or (by name) big-endian, object, structured and other dtypes
NpyHeader parse_npy_header(Bytes array, const std::string& path);

}  // namespace vitascope::weights
