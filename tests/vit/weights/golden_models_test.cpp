// Every golden model, opened as a person would name it, against what transformers and timm gave for
// it. Two correct programs stay a tenth of these limits apart; the mildest mistake, the tanh form
// of GELU, changes logits by 3e-4.
#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "kernels/attention.h"
#include "tests/golden.h"
#include "vit/weights/model_directory.h"
#include "vit/weights/safetensors.h"
#include "vit/weights/tensor_assembly.h"

namespace vitascope::weights {
namespace {

constexpr double kLogits = 2e-5;
constexpr double kHidden = 1e-4;
constexpr double kAttentions = 1e-5;

struct Case {
  const char* model;     ///< below tests/golden/models
  const char* expected;  ///< the same
};

// clang-format off
constexpr Case kCases[] = {
    {"hf-vit", "hf-vit/expected.safetensors"},
    {"hf-vit-v4keys", "hf-vit/expected.safetensors"},
    {"hf-vit-v5keys", "hf-vit/expected.safetensors"},
    {"hf-vit-sharded", "hf-vit/expected.safetensors"},
    {"hf-vit-bf16", "hf-vit-bf16/expected.safetensors"},
    {"hf-vit-fp16", "hf-vit-fp16/expected.safetensors"},
    {"hf-vit", "hf-vit-rect/expected.safetensors"},
    {"hf-deit-distilled", "hf-deit-distilled/expected.safetensors"},
    {"hf-dinov2", "hf-dinov2/expected.safetensors"},
    {"hf-dinov2-reg-swiglu", "hf-dinov2-reg-swiglu/expected.safetensors"},
    {"timm-vit", "timm-vit/expected.safetensors"},
    {"timm-vit", "timm-resized/expected_up.safetensors"},
    {"timm-vit", "timm-resized/expected_down.safetensors"},
    {"timm-deit3-pth", "timm-deit3-pth/expected.safetensors"},
    {"timm-deit3-pth/model.pth", "timm-deit3-pth/expected.safetensors"},
    {"timm-deit3-pth/checkpoint-7.pth", "timm-deit3-pth/expected.safetensors"},
    {"timm-vit-gap", "timm-vit-gap/expected.safetensors"},
    {"timm-vit-gap-cls", "timm-vit-gap-cls/expected.safetensors"},
    {"augreg-npz", "augreg-npz/expected.safetensors"},
    {"augreg-npz/model.npz", "augreg-npz/expected.safetensors"},
    {"hf-vit/model.safetensors", "hf-vit/expected.safetensors"},
};
// clang-format on

/// Tensors of an expected file; undefined where it has none of that name.
class Expected {
 public:
  explicit Expected(const std::string& path) : stored_(read_safetensors(path)) {}
  at::Tensor operator[](const std::string& name) const {
    const auto found = stored_.tensors.find(name);
    return found == stored_.tensors.end() ? at::Tensor() : view_of(found->second);
  }

 private:
  StoredTensors stored_;
};

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

class GoldenModel : public testing::TestWithParam<std::tuple<Case, kernels::Backend, bool>> {};

TEST_P(GoldenModel, GivesWhatPythonGave) {
  const auto& [item, backend, pack] = GetParam();
  const c10::InferenceMode inference;
  OpenOptions options;
  options.pack = pack;
  const Model model = open_model(tests::golden(std::string("models/") + item.model), options);
  const Expected expected(tests::golden(std::string("models/") + item.expected));
  model::Trace trace;
  trace.want_hidden_states = trace.want_queries_and_keys = true;
  const model::Output output =
      model.network.forward(expected["pixel_values"], {.backend = backend, .trace = &trace});

  ASSERT_TRUE(expected["logits"].defined());
  EXPECT_LE(largest_difference(output.logits, expected["logits"]), kLogits);
  if (const at::Tensor tokens = expected["last_hidden_state"]; tokens.defined()) {
    EXPECT_LE(largest_difference(output.tokens, tokens), kHidden);
  }
  if (const at::Tensor pooled = expected["pooled"]; pooled.defined()) {
    EXPECT_LE(largest_difference(output.features, pooled), kHidden);
  }
  const auto depth = static_cast<std::size_t>(model.network.config().depth);
  ASSERT_EQ(trace.hidden_states.size(), depth + 1);
  for (std::size_t i = 0; i <= depth; ++i) {
    const at::Tensor hidden = expected["hidden_states." + std::to_string(i)];
    if (!hidden.defined()) continue;
    EXPECT_LE(largest_difference(trace.hidden_states[i], hidden), kHidden) << "after block " << i;
  }
  for (std::size_t i = 0; i < depth; ++i) {
    const at::Tensor attention = expected["attentions." + std::to_string(i)];
    if (!attention.defined()) continue;
    const at::Tensor ours = kernels::attention_map(trace.queries[i], trace.keys[i], trace.lse[i]);
    EXPECT_LE(largest_difference(ours, attention), kAttentions) << "in block " << i;
  }
}

std::string case_name(const testing::TestParamInfo<GoldenModel::ParamType>& info) {
  const auto& [item, backend, pack] = info.param;
  std::string name = std::string(item.model) + "_for_" + item.expected + "_by_" +
                     kernels::backend_name(backend) + (pack ? "_packed" : "");
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenModel,
                         testing::Combine(testing::ValuesIn(kCases),
                                          testing::Values(kernels::Backend::fused,
                                                          kernels::Backend::sdpa,
                                                          kernels::Backend::math),
                                          testing::Bool()),
                         case_name);

}  // namespace
}  // namespace vitascope::weights
