#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "vit/weights/stored_tensors.h"

/// \file
/// The safetensors format: 8 bytes of header length, a JSON header, tensors back to back.
namespace vitascope::weights {

/// Reads a .safetensors file, mapped, nothing copied.
/// \throws InputError naming file and byte offset: header longer than the file or than 100 MB, not
///         JSON, unknown dtype, offsets outside the file, overlapping or with holes, sizes that
///         contradict the shape, a name twice
StoredTensors read_safetensors(const std::string& path);

/// The same over bytes already in memory (`owner` keeps them alive); for the fuzzer and the tests.
StoredTensors parse_safetensors(Bytes file, const std::string& path,
                                std::shared_ptr<const void> owner);

/// Reads model.safetensors.index.json and the shards it names, which must lie in its own folder.
/// \throws InputError: a shard outside the folder, missing, a tensor not where the index says, or
///         one held by two shards
StoredTensors read_sharded_safetensors(const std::string& index_path);

/// A tensor to be written: contiguous bytes.
struct TensorToWrite {
  std::string name;
  DType dtype;
  std::vector<std::int64_t> shape;
  Bytes bytes;
};

/// Writes a .safetensors file as a whole (temporary name, fsync, rename), tensors aligned to 8
/// bytes or more, names sorted as Python's writer does.
/// \throws UsageError when it exists and `force` is false; FailureError when writing fails
void write_safetensors(const std::string& path, const std::vector<TensorToWrite>& tensors,
                       const std::map<std::string, std::string>& metadata, bool force);

}  // namespace vitascope::weights
