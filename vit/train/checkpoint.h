#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vit/train/named_tensors.h"

/// \file
/// All that a run needs to go on, as one file that is whole or refused.
namespace vitascope::train {

/// Parts by name. The trainer gives `weights`, `optimizer`, `ema`, `progress` and `random`; who
/// runs it adds what is known there: the position in the data, the recipe, labels, ...
struct Checkpoint {
  std::map<std::string, NamedTensors> tensors;
  std::map<std::string, std::string> texts;  ///< any bytes

  /// A text that must be there.
  /// \throws UsageError that names it
  const std::string& text(const std::string& name) const;
};

/// Writes FOLDER/step-NNNNNNNN.checkpoint: to a temporary name, fsync, rename, fsync of the folder.
/// Only then are the others removed, but for the one before. The file is of the safetensors format
/// and holds a CRC-32 of each part.
/// \param step updates so far: a later checkpoint has a higher one
/// \return the path
/// \throws FailureError when writing fails: what was there is still there
std::string write_checkpoint(const std::string& folder, const Checkpoint& checkpoint,
                             std::int64_t step);

/// \throws InputError that names the part that is damaged or missing
Checkpoint read_checkpoint(const std::string& path);

/// Checkpoints of a folder, the newest first; none when there is no folder.
std::vector<std::string> checkpoints_in(const std::string& folder);

/// The newest checkpoint of a folder; nothing when there is none.
/// \throws InputError when it is damaged: says which part and what the one before it is worth
std::optional<Checkpoint> read_newest_checkpoint(const std::string& folder);

}  // namespace vitascope::train
