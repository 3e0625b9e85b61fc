#pragma once

#include <string>

#include "app/merged_parts.h"

/// \file
/// The parts of a run as the results that one process would have given.
namespace vitascope::app {

/// Where they go, and how.
struct MergeOptions {
  std::string output;  ///< empty: stdout
  std::string format;  ///< text, json or csv; empty: as the shards were asked
  bool force = false;  ///< overwrite files of `output`
  bool quiet = false;
  bool name_failures = true;  ///< false: photos that failed were named when they did
};

/// Prints or writes what the parts hold, of `classify` a file, of `evaluate` a folder, and names
/// the photos that failed on stderr. \return exit status: 1 where a photo failed \throws UsageError
/// or InputError when the parts don't make a whole; then nothing is written
int merge(const Parts& parts, const MergeOptions& options);

/// What a command says in the header of its parts so that --format has a default.
inline constexpr const char* kFormatKey = "format";

}  // namespace vitascope::app
