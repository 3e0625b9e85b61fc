#pragma once

#include <string>

#include "tests/vit/weights/zip_builder.h"

/// \file
/// Arrays of NumPy's .npy format made byte by byte.
namespace vitascope::tests {

/// A .npy array of version 1 with the given dictionary.
inline std::string npy(const std::string& header, const std::string& data) {
  return "\x93NUMPY" + le(1, 2) + le(header.size(), 2) + header + data;
}

/// The dictionary as NumPy writes it.
inline std::string literal(const std::string& descr, const std::string& order,
                           const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }  \n";
}

}  // namespace vitascope::tests
