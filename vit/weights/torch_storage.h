#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "vit/error.h"
#include "vit/weights/pickle.h"
#include "vit/weights/stored_tensors.h"
#include "vit/weights/zip_archive.h"

/// \file
/// Tensors of a file of torch.save: what the pickle says of each, joined with its storage.
namespace vitascope::weights {

/// The element type of a storage's class (torch.FloatStorage) or of a dtype object (torch.float32);
/// nothing for those that are no weight's.
std::optional<DType> torch_dtype(const PickleGlobal& global);

/// What a pickle says of a storage, without its bytes.
struct StorageReference {
  PickleGlobal type;          ///< torch.FloatStorage
  std::string key;            ///< which storage of the file
  std::int64_t elements = 0;  ///< of an untyped storage: bytes

  /// Reads ('storage', class, key, device, number of elements, view); nothing where it is damaged
  /// or a view of another storage.
  static std::optional<StorageReference> read(const PicklePersistent& reference);
};

/// A storage in a file.
struct StorageEntry {
  std::string name;  ///< how messages call it
  std::size_t offset = 0, size = 0;
  std::function<ZipArchive::Content()> read;
};

/// Makes tensors of pickled values; several may share one storage.
class TorchStorages {
 public:
  /// The entry of a storage's key, or nothing.
  using Find = std::function<std::optional<StorageEntry>(const std::string& key)>;

  /// \param owner keeps the file's bytes alive. `path` must outlive this.
  TorchStorages(Find find, const std::string& path, std::shared_ptr<const void> owner)
      : find_(std::move(find)), path_(path), owner_(std::move(owner)) {}

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

  Find find_;
  const std::string& path_;
  std::shared_ptr<const void> owner_;
  std::map<std::string, ZipArchive::Content> contents_;  ///< by key, so that each inflates once
};

}  // namespace vitascope::weights
