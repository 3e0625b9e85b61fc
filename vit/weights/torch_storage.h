#pragma once

#include <map>
#include <optional>
#include <string>

#include "vit/error.h"
#include "vit/weights/pickle.h"
#include "vit/weights/stored_tensors.h"
#include "vit/weights/zip_archive.h"

/// \file
/// Tensors of a torch.save archive: what the pickle says of each, joined with its storage.
namespace vitascope::weights {

/// Makes tensors of pickled values. A storage is an entry `<folder>/data/<key>` of the archive;
/// several tensors may share one.
class TorchStorages {
 public:
  /// `archive` and `path` must outlive this; `owner` keeps the archive's bytes alive.
  TorchStorages(const ZipArchive& archive, std::string folder, const std::string& path,
                std::shared_ptr<const void> owner)
      : archive_(archive), folder_(std::move(folder)), path_(path), owner_(std::move(owner)) {}

  /// The tensor that `value` is, or nothing when it is something else.
  /// \param name how the file calls it, for errors
  /// \throws InputError: a storage that is missing or too short, elements outside it, a kind of
  ///         tensor or dtype that is not supported (sparse, quantised, complex, ...)
  std::optional<StoredTensor> tensor(const PickleValue& value, const std::string& name);

 private:
  struct Storage;
  std::optional<StoredTensor> called(const PickleGlobal& function, const PickleValue& arguments,
                                     const std::string& name);
  StoredTensor rebuild(const std::vector<PicklePtr>& arguments, const std::string& name,
                       const PickleGlobal* dtype);
  Storage storage(const PickleValue& value, const std::string& name, const PickleGlobal* dtype);
  InputError fault(const std::string& name, const std::string& what) const;

  const ZipArchive& archive_;
  std::string folder_;
  const std::string& path_;
  std::shared_ptr<const void> owner_;
  std::map<std::string, ZipArchive::Content> contents_;  ///< by key, so that each inflates once
};

}  // namespace vitascope::weights
