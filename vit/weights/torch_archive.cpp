#include "vit/weights/torch_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "vit/error.h"
#include "vit/text.h"
#include "vit/weights/pickle.h"
#include "vit/weights/torch_storage.h"
#include "vit/weights/torch_stream.h"
#include "vit/weights/zip_archive.h"

namespace vitascope::weights {
namespace {

bool begins_with(Bytes file, std::string_view start) {
  return file.size() >= start.size() &&
         std::string_view(reinterpret_cast<const char*>(file.data()), start.size()) == start;
}

/// How Python opens a file whose classes are to be imported.
constexpr const char* kLoadObject = "torch.load('{}', map_location='cpu', weights_only=False)";
constexpr const char* kLoadScript = "torch.jit.load('{}', map_location='cpu')";

/// A command that a person can paste: `expression` sees the content of the file as `x`.
std::string python_line(const std::string& path, const char* load, const std::string& expression) {
  return fmt::format("python3 -c \"import torch; x = {}; torch.save({}, 'weights.pth')\"",
                     fmt::format(fmt::runtime(load), printable(path)), expression);
}

void check_is_zip(Bytes file, const std::string& path) {
  if (begins_with(file, "PK")) return;
  throw InputError(path, file.empty()
                             ? "is empty, expected a file of torch.save"
                             : "is no file of torch.save: at byte 0 no zip archive begins");
}

/// The folder inside the archive that everything lies in; torch.save names it after the file.
std::string find_folder(const ZipArchive& archive, const std::string& path) {
  constexpr std::string_view kPickle = "/data.pkl";
  std::optional<std::string> folder;
  for (const ZipArchive::Entry& entry : archive.entries()) {
    if (!entry.name.ends_with(kPickle)) continue;
    const std::string found = entry.name.substr(0, entry.name.size() - kPickle.size());
    if (found.find('/') != std::string::npos) continue;
    if (folder) {
      throw InputError(path, fmt::format("holds two pickles, in '{}' and in '{}'; expected one",
                                         printable(*folder), printable(found)));
    }
    folder = found;
  }
  if (!folder) {
    throw InputError(path, "is a zip archive, but not one of torch.save: it has no data.pkl");
  }
  return *folder;
}

void check_archive(const ZipArchive& archive, const std::string& folder, const std::string& path) {
  for (const ZipArchive::Entry& entry : archive.entries()) {
    if (entry.name == folder + "/constants.pkl" || entry.name.starts_with(folder + "/code/")) {
      throw InputError(path,
                       "is a TorchScript archive, which holds a program; save its weights "
                       "alone with: " +
                           python_line(path, kLoadScript, "x.state_dict()"));
    }
  }
  const ZipArchive::Entry* order = archive.find(folder + "/byteorder");
  if (order == nullptr) return;  // archives before PyTorch 2.1 are little-endian
  if (order->size > 16) throw InputError(path, "its entry 'byteorder' is not 'little' or 'big'");
  const ZipArchive::Content content = archive.read(*order);
  const std::string_view text(reinterpret_cast<const char*>(content.bytes.data()),
                              content.bytes.size());
  if (text != "little") {
    throw InputError(path,
                     fmt::format("its byte order is '{}', only 'little' is supported; save it "
                                 "again on a little-endian machine",
                                 printable(text)));
  }
}

PicklePtr read_pickle(const ZipArchive& archive, const std::string& folder,
                      const std::string& path) {
  const std::string name = folder + "/data.pkl";
  const ZipArchive::Entry& entry = *archive.find(name);
  const ZipArchive::Content content = archive.read(entry);
  try {
    return unpickle(content.bytes, path);
  } catch (const InputError& error) {
    throw InputError(path, fmt::format("in '{}', which begins at byte {}: {}", printable(name),
                                       entry.data_offset, error.message()));
  }
}

/// A dictionary, or an object of a class derived from one.
const PickleDict* as_dict(const PickleValue& value) {
  if (const auto* dict = std::get_if<PickleDict>(&value.value)) return dict;
  const auto* object = std::get_if<PickleObject>(&value.value);
  if (object == nullptr || !object->items) return nullptr;
  return std::get_if<PickleDict>(&object->items->value);
}

const PickleValue* find(const PickleDict& dict, std::string_view key) {
  for (const auto& [name, value] : dict.items) {
    const auto* text = std::get_if<std::string>(&name->value);
    if (text != nullptr && *text == key) return value.get();
  }
  return nullptr;
}

std::string class_name(const PickleValue& value) {
  const auto* object = std::get_if<PickleObject>(&value.value);
  const auto* callable =
      object == nullptr ? nullptr : std::get_if<PickleGlobal>(&object->callable->value);
  return callable == nullptr ? "unknown" : printable(callable->module + "." + callable->name);
}

/// Numbers and text beside the weights, for people: epoch, arch, metric.
void read_metadata(const PickleDict& dict, StoredTensors& result) {
  for (const auto& [name, value] : dict.items) {
    const auto* key = std::get_if<std::string>(&name->value);
    if (key == nullptr) continue;
    if (const auto* text = std::get_if<std::string>(&value->value)) {
      result.metadata[*key] = *text;
    } else if (const auto* integer = std::get_if<std::int64_t>(&value->value)) {
      result.metadata[*key] = std::to_string(*integer);
    } else if (const auto* real = std::get_if<double>(&value->value)) {
      result.metadata[*key] = fmt::format("{}", *real);
    } else if (const auto* flag = std::get_if<bool>(&value->value)) {
      result.metadata[*key] = *flag ? "true" : "false";
    }
  }
}

/// The dictionary of weights inside `root`: nested in timm's order, or `root` itself.
const PickleDict& choose_weights(const PickleValue& root, const std::string& path,
                                 TorchStorages& storages, StoredTensors& result) {
  const auto whole_object = [&](const PickleValue& value, const std::string& where) {
    return InputError(
        path, fmt::format("holds a whole Python object of class {} instead of weights; save its "
                          "weights alone with: {}",
                          class_name(value),
                          python_line(path, kLoadObject, "x" + where + ".state_dict()")));
  };
  const PickleDict* dict = as_dict(root);
  if (dict == nullptr) {
    if (std::holds_alternative<PickleObject>(root.value) && !storages.tensor(root, "")) {
      throw whole_object(root, "");
    }
    throw InputError(path,
                     "holds no dictionary of weights; expected what "
                     "torch.save(model.state_dict(), ...) writes");
  }
  for (const char* key : {"state_dict_ema", "model_ema", "state_dict", "model", "module"}) {
    const PickleValue* nested = find(*dict, key);
    if (nested == nullptr) continue;
    if (const PickleDict* weights = as_dict(*nested)) {
      read_metadata(*dict, result);
      result.notes.push_back(fmt::format("weights taken from '{}' of the checkpoint", key));
      return *weights;
    }
    if (std::holds_alternative<PickleObject>(nested->value) && !storages.tensor(*nested, key)) {
      throw whole_object(*nested, fmt::format("['{}']", key));
    }
  }
  read_metadata(*dict, result);
  return *dict;
}

/// What training wrappers put before every name (DistributedDataParallel, detectors).
void strip_prefixes(StoredTensors& result) {
  for (bool stripped = true; stripped;) {
    stripped = false;
    for (const std::string_view prefix : {"module.", "backbone."}) {
      const auto carries = [&](const auto& item) {
        return item.first.size() > prefix.size() && item.first.starts_with(prefix);
      };
      if (!std::all_of(result.tensors.begin(), result.tensors.end(), carries)) continue;
      std::map<std::string, StoredTensor> renamed;
      for (auto& [name, tensor] : result.tensors) {
        renamed.emplace(name.substr(prefix.size()), std::move(tensor));
      }
      result.tensors = std::move(renamed);
      result.notes.push_back(fmt::format("prefix '{}' stripped from every name", prefix));
      stripped = true;
    }
  }
}

/// Nothing was found at the top: tells what is there, since the weights may lie a level deeper.
InputError no_tensors(const PickleDict& weights, const std::string& path) {
  std::string keys;
  std::string nested;
  int shown = 0;
  for (const auto& [name, value] : weights.items) {
    const auto* key = std::get_if<std::string>(&name->value);
    if (key == nullptr) continue;
    if (nested.empty() && as_dict(*value) != nullptr) nested = printable(*key);
    if (++shown <= 8) keys += (keys.empty() ? "'" : ", '") + printable(*key) + "'";
  }
  std::string message = "holds no tensors where weights are expected";
  if (!keys.empty()) message += "; its keys are " + keys + (shown > 8 ? ", ..." : "");
  if (!nested.empty()) {
    message +=
        "; to take one of them: " + python_line(path, kLoadObject, fmt::format("x['{}']", nested));
  }
  return {path, message};
}

/// The tensors among the weights that a pickle holds.
StoredTensors tensors_of(const PickleValue& root, const std::string& path, TorchStorages storages) {
  StoredTensors result;
  result.files.push_back(path);
  const PickleDict& weights = choose_weights(root, path, storages, result);
  for (const auto& [key, value] : weights.items) {
    const auto* name = std::get_if<std::string>(&key->value);
    std::optional<StoredTensor> tensor =
        storages.tensor(*value, name == nullptr ? "(not text)" : *name);
    if (!tensor) continue;
    if (name == nullptr || !result.tensors.emplace(*name, std::move(*tensor)).second) {
      throw InputError(path, name == nullptr
                                 ? "holds a tensor whose name is not text"
                                 : fmt::format("holds tensor '{}' twice", printable(*name)));
    }
  }
  if (result.tensors.empty()) throw no_tensors(weights, path);
  strip_prefixes(result);
  return result;
}

/// A storage is an entry `<folder>/data/<key>`.
TorchStorages::Find entries_of(const ZipArchive& archive, const std::string& folder) {
  return [&](const std::string& key) -> std::optional<StorageEntry> {
    const ZipArchive::Entry* entry = archive.find(fmt::format("{}/data/{}", folder, key));
    if (entry == nullptr) return std::nullopt;
    return StorageEntry{entry->name, entry->data_offset, entry->size,
                        [&archive, entry] { return archive.read(*entry); }};
  };
}

}  // namespace

StoredTensors parse_torch_archive(Bytes file, const std::string& path,
                                  std::shared_ptr<const void> owner) {
  if (is_torch_stream(file)) {
    const TorchStream stream = parse_torch_stream(file, path);
    return tensors_of(*stream.root, path, {stream.find, path, std::move(owner)});
  }
  check_is_zip(file, path);
  const ZipArchive archive = ZipArchive::parse(file, path);
  const std::string folder = find_folder(archive, path);
  check_archive(archive, folder, path);
  const PicklePtr root = read_pickle(archive, folder, path);
  return tensors_of(*root, path, {entries_of(archive, folder), path, std::move(owner)});
}

StoredTensors read_torch_archive(const std::string& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  StoredTensors result = parse_torch_archive(file->bytes(), path, file);
  for (auto& [name, tensor] : result.tensors) {
    if (tensor.owner == file) tensor.file = file;  // inflated storages are no part of the file
  }
  return result;
}

}  // namespace vitascope::weights
