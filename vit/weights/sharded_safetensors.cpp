#include <fmt/format.h>

#include <filesystem>

#include "vit/error.h"
#include "vit/json.h"
#include "vit/text.h"
#include "vit/weights/safetensors.h"

namespace vitascope::weights {
namespace {

/// tensor name -> shard, from the index file. A shard is a plain file name: an index that could
/// name a path could make us open any file. (The file itself may be a symbolic link; that is how
/// the Hugging Face cache stores it.)
std::map<std::string, std::string> read_weight_map(const std::string& index_path) {
  const Json index = read_json(index_path);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object()) {
    throw InputError(index_path,
                     "is no index of safetensors shards: 'weight_map' is missing or is "
                     "not an object");
  }
  std::map<std::string, std::string> shards;
  for (const auto& [tensor, value] : index["weight_map"].items()) {
    if (!value.is_string()) {
      throw InputError(index_path, fmt::format("weight_map: the shard of '{}' is not a string",
                                               printable(tensor)));
    }
    const std::string shard = value.get<std::string>();
    if (shard.empty() || shard == "." || shard == ".." ||
        shard.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos) {
      throw InputError(index_path,
                       fmt::format("weight_map: the shard '{}' of '{}' must be the name of a file "
                                   "in the index's own folder, without a path",
                                   printable(shard), printable(tensor)));
    }
    shards.emplace(tensor, shard);
  }
  if (shards.empty()) throw InputError(index_path, "weight_map names no tensors");
  return shards;
}

}  // namespace

StoredTensors read_sharded_safetensors(const std::string& index_path) {
  const std::map<std::string, std::string> shard_of = read_weight_map(index_path);
  StoredTensors result;
  std::map<std::string, std::string> found_in;  // tensor -> shard that holds it
  std::map<std::string, bool> seen;             // shards, each read once
  for (const auto& [unused, shard] : shard_of) {
    if (!seen.emplace(shard, true).second) continue;
    StoredTensors part =
        read_safetensors(std::filesystem::path(index_path).replace_filename(shard).string());
    for (auto& [name, tensor] : part.tensors) {
      const auto [position, is_new] = found_in.emplace(name, shard);
      if (!is_new) {
        throw InputError(index_path, fmt::format("tensor '{}' is held by two shards, '{}' and '{}'",
                                                 printable(name), printable(position->second),
                                                 printable(shard)));
      }
      result.tensors.emplace(name, std::move(tensor));
    }
    result.metadata.merge(part.metadata);
    result.files.insert(result.files.end(), part.files.begin(), part.files.end());
  }
  for (const auto& [name, shard] : shard_of) {
    const auto position = found_in.find(name);
    if (position == found_in.end() || position->second != shard) {
      throw InputError(index_path, fmt::format("tensor '{}' is not in the shard '{}' that "
                                               "weight_map names; download the shards again",
                                               printable(name), printable(shard)));
    }
  }
  return result;
}

}  // namespace vitascope::weights
