#include "datasets/open_labelled.h"

#include <filesystem>

#include "datasets/cifar.h"
#include "datasets/class_folders.h"
#include "datasets/idx.h"
#include "datasets/manifest.h"
#include "datasets/table.h"
#include "vit/error.h"

namespace vitascope::datasets {

LabelledImages open_labelled(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) {
    if (std::filesystem::exists(path, ignored) && !is_table(path))
      throw InputError(path, "is neither a folder nor a table that ends in .csv or .jsonl");
    return read_manifest(path);
  }
  if (is_cifar_folder(path)) return read_cifar(path);
  if (is_idx_folder(path)) return read_idx(path);
  if (is_metadata_folder(path)) return read_metadata_folder(path);
  if (const auto tables = manifests_in(path); !tables.empty()) return read_manifests(tables);
  return read_class_folders(path);
}

}  // namespace vitascope::datasets
