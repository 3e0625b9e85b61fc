#include "app/reference.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>

#include "app/device.h"
#include "vit/error.h"
#include "vit/json.h"
#include "vit/text.h"
#include "vit/weights/safetensors.h"

namespace vitascope::app {
namespace {

at::ScalarType float_type(weights::DType dtype) {
  switch (dtype) {
    case weights::DType::f64:
      return at::kDouble;
    case weights::DType::f32:
      return at::kFloat;
    case weights::DType::f16:
      return at::kHalf;
    case weights::DType::bf16:
      return at::kBFloat16;
    default:
      return at::ScalarType::Undefined;
  }
}

std::vector<std::string> image_paths(const weights::StoredTensors& stored,
                                     const std::string& reference) {
  const auto metadata = stored.metadata.find("images");
  if (metadata == stored.metadata.end()) return {};
  const Json list = parse_json(metadata->second, reference);
  std::vector<std::string> paths;
  if (!list.is_array()) {
    throw InputError(reference, "metadata 'images' must be a JSON list of paths");
  }
  const auto folder = std::filesystem::path(reference).parent_path();
  for (const Json& entry : list) {
    if (!entry.is_string()) {
      throw InputError(reference, "metadata 'images' must be a JSON list of paths");
    }
    paths.push_back((folder / entry.get<std::string>()).lexically_normal().string());
  }
  return paths;
}

// "hidden_states.12" -> 12 for the prefix "hidden_states."; nothing for another name.
std::optional<std::int64_t> layer_of(const std::string& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  std::int64_t layer = 0;
  const char* end = name.data() + name.size();
  const auto result = std::from_chars(name.data() + prefix.size(), end, layer);
  if (result.ec != std::errc() || result.ptr != end || layer < 0) return std::nullopt;
  return layer;
}

// A comparison that grows batch by batch.
struct Running {
  TensorComparison comparison;
  double sum = 0, reference_largest = 0;
  std::int64_t count = 0;
  std::function<at::Tensor(const model::Output&, const model::Trace&)> ours;

  void add(const at::Tensor& mine, const at::Tensor& reference) {
    if (!comparison.mismatch.empty()) return;
    if (mine.sizes() != reference.sizes()) {
      comparison.mismatch =
          fmt::format("ours is {} where the reference has {}", shape_text(mine.sizes().vec()),
                      shape_text(reference.sizes().vec()));
      return;
    }
    if (reference.numel() == 0) return;
    const at::Tensor difference = (mine.to(at::kCPU, at::kFloat) - reference).abs();
    const double largest = difference.max().item<double>();
    // Once NaN, always NaN: a comparison with NaN is false.
    if (!(comparison.largest >= largest) && !std::isnan(comparison.largest)) {
      comparison.largest = largest;
    }
    sum += difference.sum(at::kDouble).item<double>();
    count += difference.numel();
    reference_largest = std::max(reference_largest, reference.abs().max().item<double>());
  }

  TensorComparison finish(double tolerance) {
    comparison.mean = count > 0 ? sum / double(count) : 0;
    comparison.allowed = tolerance * std::max(1.0, reference_largest);
    return comparison;
  }
};

at::Tensor pooled(const model::Output& output, const model::Config& config) {
  // DeiT distilled has two heads; timm calls the mean of what they read pooled.
  return config.pooling == model::Pooling::first_two ? output.features.mean(1) : output.features;
}

// How our value of a reference tensor is had; fills mismatch where the model has none.
void set_source(Running& running, const model::Config& config) {
  using model::Output;
  using model::Trace;
  const std::string& name = running.comparison.name;
  const auto hidden = layer_of(name, "hidden_states.");
  const auto attention = layer_of(name, "attentions.");
  if ((hidden && *hidden > config.depth) || (attention && *attention >= config.depth)) {
    running.comparison.mismatch = fmt::format("the model has only {} blocks", config.depth);
  } else if (hidden) {
    running.ours = [i = *hidden](const Output&, const Trace& t) { return t.hidden_states.at(i); };
  } else if (attention) {
    running.ours = [i = *attention](const Output&, const Trace& t) {
      return kernels::attention_map(t.queries.at(i), t.keys.at(i), t.lse.at(i));
    };
  } else if (name == "last_hidden_state") {
    running.ours = [](const Output& output, const Trace&) { return output.tokens; };
  } else if (name == "logits") {
    if (config.classes == 0) running.comparison.mismatch = "the model has no head";
    running.ours = [](const Output& output, const Trace&) { return output.logits; };
  } else {
    running.ours = [&config](const Output& output, const Trace&) { return pooled(output, config); };
  }
}

// Where a tensor stands in the order of computation; nothing for what is not compared.
std::optional<std::int64_t> rank(const std::string& name) {
  if (const auto layer = layer_of(name, "hidden_states.")) return 2 * *layer;
  if (const auto layer = layer_of(name, "attentions.")) return 2 * *layer + 1;
  constexpr std::int64_t after_blocks = INT64_MAX - 4;
  if (name == "last_hidden_state") return after_blocks;
  if (name == "pooled" || name == "features") return after_blocks + 1;
  if (name == "logits") return after_blocks + 2;
  return std::nullopt;
}

std::vector<Running> comparisons(const Reference& reference, const model::Config& config,
                                 std::vector<std::string>& not_compared) {
  std::vector<Running> running;
  for (const auto& [name, tensor] : reference.stored.tensors) {
    if (!rank(name)) {
      if (name != "pixel_values") not_compared.push_back(name);
      continue;
    }
    Running one;
    one.comparison.name = name;
    one.comparison.shape = tensor.shape;
    if (tensor.shape.empty() || tensor.shape[0] != reference.batch) {
      one.comparison.mismatch = fmt::format("{} does not begin with the {} photos of pixel_values",
                                            shape_text(tensor.shape), reference.batch);
    } else if (float_type(tensor.dtype) == at::ScalarType::Undefined) {
      one.comparison.mismatch =
          fmt::format("{} is no floating-point type", weights::dtype_name(tensor.dtype));
    } else {
      set_source(one, config);
    }
    running.push_back(std::move(one));
  }
  std::ranges::stable_sort(running, {},
                           [](const Running& one) { return rank(one.comparison.name).value(); });
  return running;
}

}  // namespace

at::Tensor Reference::rows(const std::string& name, std::int64_t first, std::int64_t count) const {
  const auto found = stored.tensors.find(name);
  if (found == stored.tensors.end()) return {};
  const weights::StoredTensor& tensor = found->second;
  std::vector<std::int64_t> shape = tensor.shape;
  const std::size_t row = tensor.bytes.size() / std::size_t(shape.at(0));
  shape[0] = count;
  at::Tensor copy = at::empty(shape, at::TensorOptions(float_type(tensor.dtype)));
  if (count > 0 && row > 0) {
    const Bytes part = tensor.bytes.subspan(std::size_t(first) * row, std::size_t(count) * row);
    std::memcpy(copy.data_ptr(), part.data(), part.size());
  }
  return copy.to(at::kFloat);
}

Reference read_reference(const std::string& path) {
  Reference reference;
  reference.path = path;
  reference.stored = weights::read_safetensors(path);
  const auto found = reference.stored.tensors.find("pixel_values");
  if (found == reference.stored.tensors.end()) {
    throw InputError(path,
                     "holds no pixel_values [B, 3, H, W]; README shows the lines of Python that "
                     "write a reference file");
  }
  const std::vector<std::int64_t>& shape = found->second.shape;
  if (shape.size() != 4 || shape[0] < 1 || shape[1] != 3 || shape[2] < 1 || shape[3] < 1 ||
      float_type(found->second.dtype) == at::ScalarType::Undefined) {
    throw InputError(path,
                     fmt::format("pixel_values is {} {}, expected floats of [B, 3, H, W]",
                                 weights::dtype_name(found->second.dtype), shape_text(shape)));
  }
  reference.batch = shape[0];
  reference.height = shape[2];
  reference.width = shape[3];
  reference.images = image_paths(reference.stored, path);
  return reference;
}

bool Verification::passed() const { return first_parting() == nullptr; }

const TensorComparison* Verification::first_parting() const {
  const auto found = std::ranges::find_if_not(comparisons, &TensorComparison::passed);
  return found == comparisons.end() ? nullptr : &*found;
}

Verification verify_outputs(const model::VisionTransformer& network, const Reference& reference,
                            const VerifyOptions& options) {
  Verification verification;
  std::vector<Running> running =
      comparisons(reference, network.config(), verification.not_compared);
  if (running.empty()) {
    throw InputError(reference.path,
                     "holds nothing to compare with: no logits, hidden_states.i, "
                     "attentions.i, last_hidden_state, pooled or features");
  }
  const at::Device device = device_of(network);
  for (std::int64_t first = 0; first < reference.batch; first += options.batch) {
    const std::int64_t count = std::min(options.batch, reference.batch - first);
    model::Trace trace;
    trace.want_hidden_states = trace.want_queries_and_keys = true;
    model::Output output;
    try {
      output = network.forward(reference.rows("pixel_values", first, count).to(device),
                               {.backend = options.backend, .trace = &trace});
    } catch (const std::invalid_argument& error) {
      throw InputError(reference.path, error.what());
    }
    for (Running& one : running) {
      if (!one.comparison.mismatch.empty()) continue;
      one.add(one.ours(output, trace), reference.rows(one.comparison.name, first, count));
    }
  }
  for (Running& one : running) {
    verification.comparisons.push_back(one.finish(options.tolerance));
  }
  return verification;
}

std::string explain_parting(const std::string& name) {
  if (const auto layer = layer_of(name, "hidden_states.")) {
    if (*layer == 0) {
      return "the embedding: patch projection, prefix tokens, position embedding or its "
             "interpolation";
    }
    return fmt::format(
        "block {}, after its attention probabilities: values, output projection, "
        "LayerScale or MLP (activation, SwiGLU)",
        *layer - 1);
  }
  if (const auto layer = layer_of(name, "attentions.")) {
    return fmt::format(
        "the attention of block {}: its first norm (epsilon), queries, keys, qk-norm "
        "or scale",
        *layer);
  }
  if (name == "last_hidden_state") return "the final norm, or a block that the file does not hold";
  if (name == "logits") return "the head: its weights, or which tokens are pooled";
  return "pooling, or the norm after it";
}

}  // namespace vitascope::app
