#include "vit/train/checkpoint.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "vit/checksum.h"
#include "vit/error.h"
#include "vit/text.h"
#include "vit/weights/safetensors.h"
#include "vit/weights/tensor_assembly.h"
#include "vit/weights/tensor_file.h"

namespace vitascope::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".checkpoint";
constexpr std::string_view kTexts = "text/";  // before the part's name
constexpr const char* kVersionKey = "vitascope_checkpoint";
constexpr const char* kVersion = "1";
constexpr std::string_view kSumKey = "crc32 ";  // and the part's name

/// "optimizer/step.head.bias" -> "optimizer"; "text/random" -> "text/random".
std::string part_of(const std::string& name) {
  return name.starts_with(kTexts) ? name : name.substr(0, name.find('/'));
}

/// Names, types and shapes count too: the header that holds them can be damaged as well.
std::uint32_t add_to_sum(std::uint32_t sum, const std::string& name, weights::DType dtype,
                         const std::vector<std::int64_t>& shape, Bytes bytes) {
  std::string description = fmt::format("{} {}", name, weights::dtype_name(dtype));
  for (const std::int64_t size : shape) description += fmt::format(" {}", size);
  return crc32_of(bytes, crc32_of(description, sum));
}

Bytes bytes_of(const at::Tensor& contiguous) {
  return {static_cast<const std::byte*>(contiguous.const_data_ptr()),
          static_cast<std::size_t>(contiguous.nbytes())};
}

/// Text as a tensor of bytes.
at::Tensor tensor_of(const std::string& text) {
  at::Tensor tensor = at::empty({std::ssize(text)}, at::kByte);
  if (!text.empty()) std::memcpy(tensor.mutable_data_ptr(), text.data(), text.size());
  return tensor;
}

/// Everything by its name in the file.
std::map<std::string, at::Tensor> stored_names(const Checkpoint& checkpoint) {
  std::map<std::string, at::Tensor> all;
  for (const auto& [part, tensors] : checkpoint.tensors) {
    for (const auto& [name, tensor] : tensors) {
      all.emplace(fmt::format("{}/{}", part, name), tensor.detach().cpu().contiguous());
    }
  }
  for (const auto& [name, text] : checkpoint.texts) {
    all.emplace(fmt::format("{}{}", kTexts, name), tensor_of(text));
  }
  return all;
}

std::map<std::string, std::string> metadata_of(const std::map<std::string, at::Tensor>& tensors) {
  std::map<std::string, std::uint32_t> sums;
  for (const auto& [name, tensor] : tensors) {
    std::uint32_t& sum = sums[part_of(name)];
    sum = add_to_sum(sum, name, weights::stored_type(tensor.scalar_type()), tensor.sizes().vec(),
                     bytes_of(tensor));
  }
  std::map<std::string, std::string> metadata{{kVersionKey, kVersion}};
  for (const auto& [part, sum] : sums) {
    metadata.emplace(fmt::format("{}{}", kSumKey, part), fmt::format("{:08x}", sum));
  }
  return metadata;
}

[[noreturn]] void fail_damaged(const std::string& path, const std::string& part, const char* how) {
  const bool text = part.starts_with(kTexts);
  throw InputError(path, fmt::format("the checkpoint is damaged: its part '{}' {}",
                                     printable(text ? part.substr(kTexts.size()) : part), how));
}

/// \throws InputError unless every part is there and what it was
void check_sums(const weights::StoredTensors& stored, const std::string& path) {
  const auto version = stored.metadata.find(kVersionKey);
  if (version == stored.metadata.end()) throw InputError(path, "is no checkpoint of a run");
  if (version->second != kVersion) {
    throw InputError(path, fmt::format("is a checkpoint of version {}: expected {}",
                                       printable(version->second), kVersion));
  }
  std::map<std::string, std::uint32_t> sums;
  for (const auto& [name, tensor] : stored.tensors) {
    std::uint32_t& sum = sums[part_of(name)];
    sum = add_to_sum(sum, name, tensor.dtype, tensor.shape, tensor.bytes);
  }
  for (const auto& [part, sum] : sums) {
    const auto said = stored.metadata.find(fmt::format("{}{}", kSumKey, part));
    if (said == stored.metadata.end()) fail_damaged(path, part, "has no checksum");
    if (said->second != fmt::format("{:08x}", sum)) {
      fail_damaged(path, part, "does not have the checksum that was written with it");
    }
  }
  for (const auto& [key, said] : stored.metadata) {
    if (!key.starts_with(kSumKey)) continue;
    const std::string part = key.substr(kSumKey.size());
    if (!sums.contains(part)) fail_damaged(path, part, "is missing");
  }
}

}  // namespace

const std::string& Checkpoint::text(const std::string& name) const {
  const auto found = texts.find(name);
  if (found == texts.end()) {
    throw UsageError(
        fmt::format("the checkpoint has no part '{}': it was written by another "
                    "version of the program",
                    name));
  }
  return found->second;
}

std::string write_checkpoint(const std::string& folder, const Checkpoint& checkpoint,
                             std::int64_t step) {
  const std::string path = fmt::format("{}/step-{:08}{}", folder, step, kExtension);
  const std::map<std::string, at::Tensor> tensors = stored_names(checkpoint);
  weights::write_tensors(path, tensors, metadata_of(tensors), /*force=*/true);
  // A run that begins anew in a folder leaves later steps of the former one behind: they go too.
  const std::vector<std::string> all = checkpoints_in(folder);
  const auto written = std::ranges::find(all, path);
  const auto before = written == all.end() ? written : std::next(written);
  for (auto other = all.begin(); other != all.end(); ++other) {
    if (other == written || other == before) continue;
    std::error_code ignored;  // left over, it takes room and nothing more
    fs::remove(*other, ignored);
  }
  return path;
}

Checkpoint read_checkpoint(const std::string& path) {
  const weights::StoredTensors stored = weights::read_safetensors(path);
  check_sums(stored, path);
  Checkpoint checkpoint;
  for (const auto& [name, tensor] : stored.tensors) {
    if (name.starts_with(kTexts)) {
      checkpoint.texts.emplace(
          name.substr(kTexts.size()),
          std::string(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()));
      continue;
    }
    const std::string part = part_of(name);
    checkpoint.tensors[part].emplace(name.substr(part.size() + 1), weights::view_of(tensor));
  }
  return checkpoint;
}

std::vector<std::string> checkpoints_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("step-") && name.ends_with(kExtension)) {
      paths.push_back(fmt::format("{}/{}", folder, name));
    }
  }
  std::ranges::sort(paths, std::greater());
  return paths;
}

std::optional<Checkpoint> read_newest_checkpoint(const std::string& folder) {
  const std::vector<std::string> paths = checkpoints_in(folder);
  if (paths.empty()) return std::nullopt;
  try {
    return read_checkpoint(paths.front());
  } catch (const InputError& error) {
    if (paths.size() == 1) throw;
    try {
      read_checkpoint(paths[1]);
    } catch (const InputError& other) {
      throw InputError(error.path(), fmt::format("{}; and the one before it as well: {}",
                                                 error.message(), other.what()));
    }
    throw InputError(error.path(),
                     fmt::format("{}; the one before it, {}, is whole: remove the damaged file and "
                                 "resume again to go on from there",
                                 error.message(), printable(paths[1])));
  }
}

}  // namespace vitascope::train
