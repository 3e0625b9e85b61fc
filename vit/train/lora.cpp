#include "vit/train/lora.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "vit/error.h"
#include "vit/json.h"
#include "vit/train/trainable.h"
#include "vit/weights/safetensors.h"
#include "vit/weights/tensor_assembly.h"
#include "vit/weights/tensor_file.h"

namespace vitascope::train {
namespace {

constexpr const char* kProducts[] = {"attn.qkv", "attn.proj", "mlp.fc1", "mlp.fc2"};
constexpr const char* kScale = "scale";
constexpr const char* kLabels = "labels";
constexpr const char* kMultiLabel = "multi_label";

void validate(const LoraOptions& options) {
  if (!(options.alpha > 0 && std::isfinite(options.alpha))) {
    throw UsageError(fmt::format("LoRA's alpha is {}: expected above 0", options.alpha));
  }
  if (options.where.empty()) throw UsageError("LoRA without a product to add to");
  for (const std::string& name : options.where) {
    if (std::ranges::find(kProducts, name) != std::end(kProducts)) continue;
    throw UsageError(
        fmt::format("LoRA on '{}': expected one of {}", name, fmt::join(kProducts, ", ")));
  }
}

at::Tensor uniform_numbers(std::int64_t rows, std::int64_t columns, double limit,
                           RandomNumbers& random) {
  at::Tensor values = at::empty({rows, columns}, at::kFloat);
  float* value = values.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    value[i] = static_cast<float>(limit * (2 * random.uniform() - 1));
  }
  return values;
}

/// The product that an adapter's tensor belongs to, or null.
kernels::Weight* find_product(model::VisionTransformer& network, const std::string& name) {
  for (auto& [known, product] : network.products()) {
    if (known == name) return product;
  }
  return nullptr;
}

double scale_in(const weights::StoredTensors& stored, const std::string& path) {
  const auto found = stored.metadata.find(kScale);
  double scale = 0;
  if (found != stored.metadata.end()) {
    const std::string& text = found->second;
    std::from_chars(text.data(), text.data() + text.size(), scale);
  }
  if (!(scale > 0 && std::isfinite(scale))) {
    throw InputError(path, "is no adapter: its metadata has no scale above 0");
  }
  return scale;
}

std::vector<std::string> labels_in(const weights::StoredTensors& stored, const std::string& path) {
  const auto found = stored.metadata.find(kLabels);
  if (found == stored.metadata.end()) {
    throw InputError(path, "is no adapter: its metadata has no labels");
  }
  try {
    return parse_json(found->second, path).get<std::vector<std::string>>();
  } catch (const Json::exception&) {
    throw InputError(path, "the labels in its metadata are no list of names");
  }
}

/// \throws InputError unless `tensor` has this shape
void require_shape(const at::Tensor& tensor, const std::string& name, at::IntArrayRef shape,
                   const std::string& path) {
  if (tensor.sizes() == shape) return;
  throw InputError(path, fmt::format("is of another model: '{}' is [{}], expected [{}]", name,
                                     fmt::join(tensor.sizes(), ", "), fmt::join(shape, ", ")));
}

}  // namespace

void add_lora(model::VisionTransformer& network, const LoraOptions& options,
              RandomNumbers& random) {
  validate(options);
  for (const auto& [found, product] : network.products()) {
    const std::string& name = found;  // lambdas of C++20 may not capture the binding itself
    const bool chosen = std::ranges::any_of(
        options.where, [&](const std::string& end) { return name.ends_with("." + end); });
    if (!chosen) continue;
    const std::int64_t out = product->weight.size(0);
    const std::int64_t in = product->weight.size(1);
    if (options.rank < 1 || options.rank > std::min(out, in)) {
      throw UsageError(fmt::format("LoRA's rank is {}: expected 1 to {}, the smaller side of {}",
                                   options.rank, std::min(out, in), name));
    }
    const double limit = 1 / std::sqrt(static_cast<double>(in));
    product->down = uniform_numbers(options.rank, in, limit, random).to(product->weight.options());
    product->up = at::zeros({out, options.rank}, product->weight.options());
    product->low_rank_scale = options.alpha / options.rank;
  }
}

void merge_lora(model::VisionTransformer& network) {
  const c10::AutoGradMode no_gradient(false);
  for (auto& [name, product] : network.products()) {
    if (!product->down.defined()) continue;
    const at::Tensor added = product->up.to(at::kFloat).matmul(product->down.to(at::kFloat));
    product->weight = product->weight.to(at::kFloat)
                          .add(added, product->low_rank_scale)
                          .to(product->weight.scalar_type());
    product->down.reset();
    product->up.reset();
    product->low_rank_scale = 1;
  }
}

NamedTensors adapter_of(const model::VisionTransformer& network) {
  model::VisionTransformer source = network;
  NamedTensors adapter;
  for (const auto& [name, slot] : learnable_slots(source)) {
    if (learns(name, Tuning::lora)) adapter.emplace(name, slot->detach());
  }
  return adapter;
}

void save_adapter(const Adapted& adapted, const std::string& path, bool force) {
  model::VisionTransformer source = adapted.network;
  double scale = 1;
  for (const auto& [name, product] : source.products()) {
    if (product->down.defined()) scale = product->low_rank_scale;
  }
  weights::write_tensors(path, adapter_of(adapted.network),
                         {{"format", "pt"},
                          {kScale, fmt::format("{}", scale)},
                          {kLabels, Json(adapted.labels).dump()},
                          {kMultiLabel, adapted.network.config().multi_label ? "true" : "false"}},
                         force);
}

Adapted with_adapter(const model::VisionTransformer& network, const std::string& path) {
  const weights::StoredTensors stored = weights::read_safetensors(path);
  const double scale = scale_in(stored, path);
  model::VisionTransformer changed = network;
  if (const auto head = stored.tensors.find("head.weight"); head != stored.tensors.end()) {
    if (head->second.shape.size() != 2) throw InputError(path, "'head.weight' is no matrix");
    RandomNumbers unused(0);
    const auto several = stored.metadata.find(kMultiLabel);
    changed = with_new_head(
        network,
        {.classes = static_cast<int>(head->second.shape[0]),
         .multi_label = several != stored.metadata.end() && several->second == "true"},
        unused);
  }
  for (const auto& [name, tensor] : stored.tensors) {
    const std::string product_name = name.substr(0, name.rfind('.'));
    kernels::Weight* product = find_product(changed, product_name);
    if (product == nullptr) continue;
    const at::Tensor value = weights::view_of(tensor).to(product->weight.scalar_type());
    if (value.dim() != 2) throw InputError(path, fmt::format("'{}' is no matrix", name));
    const bool down = name.ends_with(".lora_a");
    if (down) require_shape(value, name, {value.size(0), product->weight.size(1)}, path);
    if (!down) require_shape(value, name, {product->weight.size(0), value.size(1)}, path);
    (down ? product->down : product->up) = value;
    product->low_rank_scale = scale;
  }
  for (const auto& [name, product] : changed.products()) {
    const bool whole = product->down.defined() == product->up.defined() &&
                       (!product->down.defined() || product->down.size(0) == product->up.size(1));
    if (!whole) throw InputError(path, fmt::format("lora_a and lora_b of {} don't match", name));
  }
  for (const auto& [name, slot] : changed.parameters()) {
    const auto found = stored.tensors.find(name);
    if (found == stored.tensors.end()) continue;
    const at::Tensor value = weights::view_of(found->second);
    require_shape(value, name, slot->sizes(), path);
    *slot = value.to(slot->scalar_type());
  }
  std::vector<std::string> labels = labels_in(stored, path);
  if (std::ssize(labels) != changed.config().classes) {
    throw InputError(path, fmt::format("names {} classes, and its head has {}", labels.size(),
                                       changed.config().classes));
  }
  return {std::move(changed), std::move(labels)};
}

}  // namespace vitascope::train
