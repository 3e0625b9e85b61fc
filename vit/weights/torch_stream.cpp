#include "vit/weights/torch_stream.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <unordered_set>

#include "vit/error.h"
#include "vit/text.h"
#include "vit/weights/little_endian.h"

namespace vitascope::weights {
namespace {

/// The pickle of 0x1950a86a20f9469cfc6c.
constexpr std::string_view kMagic("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
constexpr std::int64_t kProtocol = 1001;

struct Place {
  std::size_t offset = 0;
  Bytes bytes;
};

/// Everything that refers to a storage, by its key.
class References {
 public:
  void collect(const PicklePtr& value) {
    if (!value || !seen_.insert(value.get()).second) return;
    if (const auto* sequence = std::get_if<PickleSequence>(&value->value)) {
      for (const PicklePtr& item : sequence->items) collect(item);
    } else if (const auto* dict = std::get_if<PickleDict>(&value->value)) {
      for (const auto& [key, item] : dict->items) {
        collect(key);
        collect(item);
      }
    } else if (const auto* object = std::get_if<PickleObject>(&value->value)) {
      for (const PicklePtr* part :
           {&object->callable, &object->arguments, &object->state, &object->items}) {
        collect(*part);
      }
    } else if (const auto* persistent = std::get_if<PicklePersistent>(&value->value)) {
      if (const auto reference = StorageReference::read(*persistent)) {
        by_key_.emplace(reference->key, *reference);
      }
    }
  }

  const StorageReference* find(const std::string& key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_set<const PickleValue*> seen_;
  std::map<std::string, StorageReference> by_key_;
};

/// Reads the pickles and storages from front to back.
class Reader {
 public:
  Reader(Bytes file, const std::string& path) : file_(file), rest_(file), path_(path) {}

  PicklePtr pickle(const char* what) {
    const std::size_t begin = offset();
    try {
      return unpickle_first(rest_, path_);
    } catch (const InputError& error) {
      throw InputError(path_, fmt::format("in the pickle of {}, which begins at byte {}: {}", what,
                                          begin, error.message()));
    }
  }

  Place storage(const std::string& key, const StorageReference* reference) {
    const auto fault = [&, begin = offset()](const std::string& words) {
      return InputError(
          path_, fmt::format("its storage '{}' at byte {} {}", printable(key), begin, words));
    };
    if (reference == nullptr) throw fault("is named by no tensor: its size is unknown");
    const auto dtype = torch_dtype(reference->type);
    if (!dtype) {
      throw fault(
          fmt::format("has elements of {}.{}, which are not supported; convert it to "
                      "float32 first",
                      printable(reference->type.module), printable(reference->type.name)));
    }
    constexpr std::size_t kCount = 8;
    if (rest_.size() < kCount) throw fault("is cut short: its size is missing");
    const std::uint64_t count = little_endian(rest_, 0, kCount);
    rest_ = rest_.subspan(kCount);
    const std::size_t width = element_size(*dtype);
    if (count != static_cast<std::uint64_t>(reference->elements)) {
      throw fault(
          fmt::format("has {} elements, where its tensors expect {}", count, reference->elements));
    }
    if (count > rest_.size() / width) {
      throw fault(
          fmt::format("is cut short: {} elements of {} were expected, and {} bytes are left", count,
                      dtype_name(*dtype), rest_.size()));
    }
    const Place place{offset(), rest_.first(count * width)};
    rest_ = rest_.subspan(place.bytes.size());
    return place;
  }

 private:
  std::size_t offset() const { return file_.size() - rest_.size(); }

  Bytes file_, rest_;
  const std::string& path_;
};

void check_protocol(const PickleValue& protocol, const std::string& path) {
  const auto* number = std::get_if<std::int64_t>(&protocol.value);
  if (number != nullptr && *number == kProtocol) return;
  throw InputError(
      path, fmt::format("is a file of torch.save of an unknown protocol: expected {}", kProtocol));
}

void check_machine(const PickleValue& machine, const std::string& path) {
  const auto* dict = std::get_if<PickleDict>(&machine.value);
  if (dict == nullptr) throw InputError(path, "does not describe the machine that saved it");
  for (const auto& [key, value] : dict->items) {
    const auto* name = std::get_if<std::string>(&key->value);
    const auto* flag = std::get_if<bool>(&value->value);
    if (name == nullptr || *name != "little_endian" || (flag != nullptr && *flag)) continue;
    throw InputError(path,
                     "its byte order is not little-endian, which is not supported; save it again "
                     "on a little-endian machine");
  }
}

}  // namespace

bool is_torch_stream(Bytes file) {
  return file.size() >= kMagic.size() &&
         std::string_view(reinterpret_cast<const char*>(file.data()), kMagic.size()) == kMagic;
}

TorchStream parse_torch_stream(Bytes file, const std::string& path) {
  Reader reader(file, path);
  reader.pickle("its magic number");
  check_protocol(*reader.pickle("its protocol"), path);
  check_machine(*reader.pickle("its machine"), path);
  TorchStream stream;
  stream.root = reader.pickle("its weights");
  const PicklePtr keys = reader.pickle("its storages' keys");
  References references;
  references.collect(stream.root);
  const auto* list = std::get_if<PickleSequence>(&keys->value);
  if (list == nullptr) throw InputError(path, "its storages' keys are no list");
  std::map<std::string, Place> places;
  for (const PicklePtr& item : list->items) {
    const auto* key = std::get_if<std::string>(&item->value);
    if (key == nullptr) throw InputError(path, "a storage's key is not text");
    const Place place = reader.storage(*key, references.find(*key));
    if (!places.emplace(*key, place).second) {
      throw InputError(path, fmt::format("holds storage '{}' twice", printable(*key)));
    }
  }
  stream.find = [places =
                     std::move(places)](const std::string& key) -> std::optional<StorageEntry> {
    const auto found = places.find(key);
    if (found == places.end()) return std::nullopt;
    const Place& place = found->second;
    return StorageEntry{key, place.offset, place.bytes.size(), [bytes = place.bytes] {
                          return ZipArchive::Content{bytes, nullptr};
                        }};
  };
  return stream;
}

}  // namespace vitascope::weights
