#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// \file
/// What the readers of benchmark files share: names of classes, and files that may be compressed.
namespace vitascope::datasets {

/// The lines of a file of class names, without empty ones.
/// \throws InputError when it can't be read or is larger than a MB
std::vector<std::string> read_class_names(const std::string& path);

/// "0", "1", ... for data sets that do not name their classes.
std::vector<std::string> numbered_classes(std::size_t count);

/// The content of a file, decompressed where it is gzip.
/// \throws InputError when it can't be read, is damaged, or is larger than 2 GB decompressed
std::vector<std::uint8_t> read_maybe_gzip(const std::string& path);

}  // namespace vitascope::datasets
