#pragma once

#include <string>

/// \file
/// Where the golden files are.
namespace vitascope::tests {

/// Path of a file or folder below tests/golden.
inline std::string golden(const std::string& name) {
  return std::string(VITASCOPE_GOLDEN) + "/" + name;
}

}  // namespace vitascope::tests
