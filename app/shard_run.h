#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/part_file.h"
#include "app/photo_run.h"
#include "app/shard.h"

/// \file
/// One shard's photos through a model and into its part, from where the part stopped.
namespace vitascope::app {

/// What the model is, in a few characters: a checksum of all files that it was opened from.
std::string model_key(const weights::Model& model, const ModelOptions& options);

/// The recipe without what may differ between the shards of a run.
/// \param recipe as config_text gives it
std::string shard_recipe(const std::string& recipe);

/// A shard that begins or goes on.
class ShardRun {
 public:
  /// Opens the part of `output` that the header names. \throws as PartWriter does
  ShardRun(const std::string& output, const PartHeader& header, bool force);

  /// Positions in the list that the part lacks, whole batches.
  const std::vector<std::size_t>& remaining() const { return remaining_; }

  /// What a run over the remaining photos does with them.
  /// \param row what the part keeps of a photo beside its index and path, as an object
  PhotoHooks hooks(std::function<Json(const PhotoResult&)> row);

  /// Says on stderr where the part is and how to go on. \return the exit status. A launcher would
  /// end the other processes where one fails, so that there photos that failed are no failure
  int finish(RunReport report, bool launched, bool quiet) const;

  const std::string& path() const { return part_.path(); }

 private:
  void add(Json row, std::size_t index, const std::string& path);

  PartHeader header_;
  PartWriter part_;
  std::size_t share_ = 0;  ///< photos of this shard
  std::vector<std::size_t> remaining_;
  Json batch_ = Json::array();
};

}  // namespace vitascope::app
