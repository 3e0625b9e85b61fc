#include "vit/weights/torch_storage.h"

#include <fmt/format.h>

#include <stdexcept>

#include "vit/text.h"

namespace vitascope::weights {
namespace {

std::string full_name(const PickleGlobal& global) { return global.module + "." + global.name; }

const PickleSequence* sequence_in(const PicklePtr& value) {
  return value ? std::get_if<PickleSequence>(&value->value) : nullptr;
}

/// A tuple of integers, or torch.Size of one.
std::optional<std::vector<std::int64_t>> integers(const PicklePtr& value) {
  const PickleSequence* sequence = sequence_in(value);
  if (const auto* object = std::get_if<PickleObject>(&value->value)) {
    const PickleSequence* arguments = sequence_in(object->arguments);
    if (arguments != nullptr && arguments->items.size() == 1) {
      sequence = sequence_in(arguments->items[0]);
    }
  }
  if (sequence == nullptr) return std::nullopt;
  std::vector<std::int64_t> result;
  for (const PicklePtr& item : sequence->items) {
    const auto* number = std::get_if<std::int64_t>(&item->value);
    if (number == nullptr) return std::nullopt;
    result.push_back(*number);
  }
  return result;
}

bool is_contiguous(const std::vector<std::int64_t>& shape,
                   const std::vector<std::int64_t>& strides) {
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

/// Index of the furthest element from the first, or nothing when it does not fit in 63 bits or a
/// stride is negative. No size is zero.
std::optional<std::int64_t> last_element(const std::vector<std::int64_t>& shape,
                                         const std::vector<std::int64_t>& strides) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::int64_t reach = 0;
    if (strides[i] < 0 || __builtin_mul_overflow(shape[i] - 1, strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      return std::nullopt;
    }
  }
  return last;
}

}  // namespace

std::optional<DType> torch_dtype(const PickleGlobal& global) {
  static const std::map<std::string, DType> dtypes = {
      {"torch.DoubleStorage", DType::f64},    {"torch.float64", DType::f64},
      {"torch.FloatStorage", DType::f32},     {"torch.float32", DType::f32},
      {"torch.HalfStorage", DType::f16},      {"torch.float16", DType::f16},
      {"torch.BFloat16Storage", DType::bf16}, {"torch.bfloat16", DType::bf16},
      {"torch.LongStorage", DType::i64},      {"torch.int64", DType::i64},
      {"torch.IntStorage", DType::i32},       {"torch.int32", DType::i32},
      {"torch.ShortStorage", DType::i16},     {"torch.int16", DType::i16},
      {"torch.CharStorage", DType::i8},       {"torch.int8", DType::i8},
      {"torch.ByteStorage", DType::u8},       {"torch.uint8", DType::u8},
      {"torch.BoolStorage", DType::boolean},  {"torch.bool", DType::boolean}};
  const auto found = dtypes.find(full_name(global));
  if (found == dtypes.end()) return std::nullopt;
  return found->second;
}

std::optional<StorageReference> StorageReference::read(const PicklePersistent& reference) {
  const PickleSequence* id = sequence_in(reference.id);
  if (id == nullptr || id->items.size() < 5) return std::nullopt;
  const auto* kind = std::get_if<std::string>(&id->items[0]->value);
  const auto* type = std::get_if<PickleGlobal>(&id->items[1]->value);
  const auto* key = std::get_if<std::string>(&id->items[2]->value);
  const auto* size = std::get_if<std::int64_t>(&id->items[4]->value);
  if (kind == nullptr || *kind != "storage" || !type || !key || !size || *size < 0) {
    return std::nullopt;
  }
  if (id->items.size() > 5 && !std::holds_alternative<PickleNone>(id->items[5]->value)) {
    return std::nullopt;
  }
  return StorageReference{*type, *key, *size};
}

/// A storage: its bytes, a whole number of elements.
struct TorchStorages::Storage {
  DType dtype = DType::f32;
  std::int64_t elements = 0;
  ZipArchive::Content content;
};

InputError TorchStorages::fault(const std::string& name, const std::string& what) const {
  return {path_, fmt::format("tensor '{}': {}", printable(name), what)};
}

std::optional<StoredTensor> TorchStorages::tensor(const PickleValue& value,
                                                  const std::string& name) {
  const auto* object = std::get_if<PickleObject>(&value.value);
  if (object == nullptr) return std::nullopt;
  const auto* function = std::get_if<PickleGlobal>(&object->callable->value);
  if (function == nullptr) return std::nullopt;
  return called(*function, *object->arguments, name);
}

/// What the functions that torch.save names would have made of their arguments.
std::optional<StoredTensor> TorchStorages::called(const PickleGlobal& function,
                                                  const PickleValue& arguments,
                                                  const std::string& name) {
  const std::string called = full_name(function);
  const auto* sequence = std::get_if<PickleSequence>(&arguments.value);
  const std::size_t count = sequence == nullptr ? 0 : sequence->items.size();
  if (called == "torch._utils._rebuild_tensor_v2" || called == "torch._utils._rebuild_tensor") {
    if (count < 4) throw fault(name, "its description is incomplete");
    return rebuild(sequence->items, name, nullptr);
  }
  if (called == "torch._utils._rebuild_tensor_v3") {  // the dtype stands beside an untyped storage
    const auto* dtype = count < 7 ? nullptr : std::get_if<PickleGlobal>(&sequence->items[6]->value);
    if (dtype == nullptr) throw fault(name, "its description is incomplete");
    return rebuild(sequence->items, name, dtype);
  }
  if (called == "torch._utils._rebuild_parameter" ||
      called == "torch._utils._rebuild_parameter_with_state") {
    if (count < 1) throw fault(name, "its description is incomplete");
    return tensor(*sequence->items[0], name);
  }
  if (called == "torch._tensor._rebuild_from_type_v2" ||
      called == "torch._tensor._rebuild_from_type") {
    const auto* inner = count < 3 ? nullptr : std::get_if<PickleGlobal>(&sequence->items[0]->value);
    if (inner == nullptr) throw fault(name, "its description is incomplete");
    return this->called(*inner, *sequence->items[2], name);
  }
  if (called.starts_with("torch._utils._rebuild_")) {
    throw fault(name, fmt::format("made by {}, which is not supported; save it as a plain dense "
                                  "tensor",
                                  printable(called)));
  }
  return std::nullopt;
}

StoredTensor TorchStorages::rebuild(const std::vector<PicklePtr>& arguments,
                                    const std::string& name, const PickleGlobal* dtype) {
  const Storage from = storage(*arguments[0], name, dtype);
  const auto* offset = std::get_if<std::int64_t>(&arguments[1]->value);
  const auto shape = integers(arguments[2]);
  const auto strides = integers(arguments[3]);
  if (offset == nullptr || !shape || !strides || shape->size() != strides->size()) {
    throw fault(name, "its offset, shape or strides are not numbers");
  }
  StoredTensor result;
  result.dtype = from.dtype;
  result.shape = *shape;
  result.owner = from.content.owner ? from.content.owner : owner_;
  std::int64_t count = 0;
  try {
    count = element_count(*shape);
  } catch (const std::overflow_error& error) {
    throw fault(name, fmt::format("shape {}: {}", shape_text(*shape), error.what()));
  }
  if (count == 0) return result;
  // More elements than the storage has means that many of them are the same one (expand): a small
  // file could ask for any amount of memory.
  const auto last = last_element(*shape, *strides);
  if (*offset < 0 || !last || count > from.elements || *last >= from.elements - *offset) {
    throw fault(name,
                fmt::format("shape {} with strides {} at element {} does not fit its storage "
                            "of {} elements",
                            shape_text(*shape), shape_text(*strides), *offset, from.elements));
  }
  const std::size_t width = element_size(from.dtype);
  result.bytes = from.content.bytes.subspan(static_cast<std::size_t>(*offset) * width,
                                            static_cast<std::size_t>(*last + 1) * width);
  if (!is_contiguous(*shape, *strides)) result.strides = *strides;
  return result;
}

/// Reads the reference to a storage and finds its bytes.
TorchStorages::Storage TorchStorages::storage(const PickleValue& value, const std::string& name,
                                              const PickleGlobal* dtype) {
  const auto* persistent = std::get_if<PicklePersistent>(&value.value);
  if (persistent == nullptr) throw fault(name, "has no reference to a storage");
  const auto reference = StorageReference::read(*persistent);
  if (!reference) throw fault(name, "its reference to a storage is damaged");
  const bool untyped =
      dtype != nullptr && full_name(reference->type) == "torch.storage.UntypedStorage";
  const PickleGlobal& named = untyped ? *dtype : reference->type;
  const std::optional<DType> element = torch_dtype(named);
  if (!element) {
    throw fault(name, fmt::format("elements of {} are not supported; convert it to float32 first",
                                  printable(full_name(named))));
  }
  const auto entry = find_(reference->key);
  if (!entry) {
    throw fault(name,
                fmt::format("its storage '{}' is not in the file", printable(reference->key)));
  }
  Storage result;
  result.dtype = *element;
  const auto width = static_cast<std::int64_t>(element_size(*element));
  result.elements = untyped ? reference->elements / width : reference->elements;
  if (static_cast<std::uint64_t>(result.elements) > entry->size / static_cast<std::size_t>(width)) {
    throw fault(name, fmt::format("its storage '{}' at byte {} has {} bytes, too few for {} "
                                  "elements of {}",
                                  printable(entry->name), entry->offset, entry->size,
                                  result.elements, dtype_name(*element)));
  }
  const auto [content, is_new] = contents_.try_emplace(reference->key);
  if (is_new) content->second = entry->read();
  result.content = content->second;
  return result;
}

}  // namespace vitascope::weights
