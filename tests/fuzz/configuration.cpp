#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "tests/fuzz/touch.h"
#include "vit/image/specification_reader.h"
#include "vit/json.h"
#include "vit/weights/config_reader.h"
#include "vit/weights/key_map.h"
#include "vit/weights/labels.h"

namespace {

using namespace vitascope;

/// Descriptions are read together with the tensors beside them. The input's own key "tensors" gives
/// their names and shapes: {"cls_token": [1, 1, 48], ...}.
weights::StoredTensors tensors_of(const Json& json) {
  weights::StoredTensors result;
  if (!json.is_object() || !json.contains("tensors") || !json["tensors"].is_object()) return result;
  for (const auto& [name, shape] : json["tensors"].items()) {
    weights::StoredTensor tensor;
    if (!shape.is_array()) continue;
    for (const Json& size : shape) {
      if (size.is_number_integer()) tensor.shape.push_back(size.get<std::int64_t>());
    }
    // The readers hand out only shapes that fit the file.
    try {
      weights::element_count(tensor.shape);
    } catch (const std::overflow_error&) {
      continue;
    }
    result.tensors.emplace(name, std::move(tensor));
  }
  return result;
}

/// A description and the tensors must fit each other, or be refused.
void map(const weights::Description& description, const weights::StoredTensors& tensors) {
  std::vector<std::string> notes;
  weights::map_keys(tensors, description.config, weights::detect_key_style(tensors, "input"),
                    "input", notes);
}

/// Label files are read by name. What is no JSON is taken as one.
void read_as_labels(std::string_view text) {
  const int file = ::memfd_create("labels", 0);
  if (file < 0 || ::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    std::abort();
  }
  fuzz::refuse_or_accept([&] { weights::read_labels(fmt::format("/proc/self/fd/{}", file), 2); });
  ::close(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Json json;
  try {
    json = parse_json(text, "input");
  } catch (const InputError&) {
    read_as_labels(text);
    return 0;
  }
  const weights::StoredTensors tensors = tensors_of(json);
  using fuzz::refuse_or_accept;
  refuse_or_accept([&] { image::specification_from_transformers(json, "input"); });
  refuse_or_accept([&] { image::specification_from_timm(json, "input"); });
  refuse_or_accept([&] { map(weights::describe_transformers(json, "input", tensors), tensors); });
  refuse_or_accept([&] { map(weights::describe_vitascope(json, "input"), tensors); });
  refuse_or_accept([&] { map(weights::describe_timm(json, "input", tensors), tensors); });
  refuse_or_accept([&] {
    const std::string architecture =
        json.is_object() && json.contains("architecture") && json["architecture"].is_string()
            ? json["architecture"].get<std::string>()
            : "vit_tiny_patch16_224";
    map(weights::describe_architecture(architecture, tensors, "input"), tensors);
  });
  refuse_or_accept([&] { map(weights::describe_npz(tensors, "input"), tensors); });
  return 0;
}
