#include "vit/weights/weight_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>

#include "vit/error.h"
#include "vit/text.h"
#include "vit/weights/key_map.h"
#include "vit/weights/npz.h"
#include "vit/weights/safetensors.h"
#include "vit/weights/torch_archive.h"

namespace vitascope::weights {
namespace {

namespace fs = std::filesystem;

/// Whether the file is what Git leaves in place of a large file that was not fetched.
bool is_lfs_pointer(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > 1024) return false;
  return read_file(path, 1024).starts_with("version https://git-lfs");
}

/// Whether two tensors hold the same, seen from their ends and middle; small ones wholly. Reading
/// every byte of two large files would take longer than opening the model; weights that were
/// trained apart differ nearly everywhere.
bool same_sample(const StoredTensor& a, const StoredTensor& b) {
  constexpr std::size_t kWhole = 16384;
  constexpr std::size_t kPart = 256;
  const std::size_t size = a.bytes.size();
  const auto same = [&](std::size_t begin, std::size_t count) {
    return std::memcmp(a.bytes.data() + begin, b.bytes.data() + begin, count) == 0;
  };
  if (size == 0) return true;
  if (size <= kWhole) return same(0, size);
  return same(0, kPart) && same(size / 2, kPart) && same(size - kPart, kPart);
}

/// What differs first, or "".
std::string difference(const StoredTensors& a, const StoredTensors& b) {
  // Both may carry tensors without a part in the model, each its own.
  const auto counts = [](const auto& entry) { return !is_known_unused(entry.first); };
  for (const auto& [name, tensor] : a.tensors) {
    if (is_known_unused(name)) continue;
    const auto found = b.tensors.find(name);
    if (found == b.tensors.end()) return fmt::format("only one has '{}'", printable(name));
    const StoredTensor& other = found->second;
    if (tensor.shape != other.shape || tensor.dtype != other.dtype) {
      return fmt::format("'{}' is {} {} and {} {}", printable(name), dtype_name(tensor.dtype),
                         shape_text(tensor.shape), dtype_name(other.dtype),
                         shape_text(other.shape));
    }
    if (tensor.strides != other.strides || tensor.bytes.size() != other.bytes.size() ||
        !same_sample(tensor, other)) {
      return fmt::format("'{}' has other numbers", printable(name));
    }
  }
  if (std::ranges::count_if(a.tensors, counts) != std::ranges::count_if(b.tensors, counts)) {
    return "one has more tensors";
  }
  return "";
}

}  // namespace

StoredTensors read_weights(const std::string& path) {
  if (is_lfs_pointer(path)) {
    throw InputError(path, "is a Git LFS pointer, not the weights: fetch them with 'git lfs pull'");
  }
  if (path.ends_with(".safetensors")) return read_safetensors(path);
  if (path.ends_with(".safetensors.index.json")) return read_sharded_safetensors(path);
  if (path.ends_with(".npz")) return read_npz(path);
  if (path.ends_with(".index.json")) {
    throw InputError(path,
                     "is the index of a sharded torch.save checkpoint, which is not supported: "
                     "convert it with Python's save_pretrained, which writes safetensors");
  }
  return read_torch_archive(path);
}

StoredTensors read_agreeing_weights(ModelFiles& files) {
  std::optional<StoredTensors> chosen;
  std::vector<std::string> notes;
  std::string first_fault;
  for (std::size_t i = 0; i < files.weights.size(); ++i) {
    const std::string path = files.weights[i];
    StoredTensors tensors;
    try {
      tensors = read_weights(path);
      detect_key_style(tensors, path);
    } catch (const InputError& error) {
      // Beside weights lie other things that end alike: features, optimiser states, broken copies.
      if (files.weights.size() == 1 || (i == 0 && is_usual_name(path))) throw;
      if (first_fault.empty()) first_fault = error.what();
      notes.push_back(fmt::format("left alone: {}", error.what()));
      continue;
    }
    if (!chosen) {
      chosen = std::move(tensors);
      std::swap(files.weights.front(), files.weights[i]);
      continue;
    }
    const std::string what = difference(*chosen, tensors);
    if (what.empty()) continue;
    const std::string& preferred = files.weights.front();
    throw InputError(
        files.folder,
        fmt::format("two weight files that differ: {} and {} ({}): name the one to use, as in "
                    "--model {}",
                    printable(fs::path(preferred).filename().string()),
                    printable(fs::path(path).filename().string()), what, printable(preferred)));
  }
  if (!chosen) {
    throw InputError(files.folder, fmt::format("none of its {} weight files can be used; the "
                                               "first: {}",
                                               files.weights.size(), first_fault));
  }
  chosen->notes.insert(chosen->notes.end(), notes.begin(), notes.end());
  return std::move(*chosen);
}

}  // namespace vitascope::weights
