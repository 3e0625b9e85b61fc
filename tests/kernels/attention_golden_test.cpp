// The 55 problems of tests/golden/attention by every instruction set that this processor has, in
// every precision, within the limits that go with them.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "kernels/attention.h"
#include "kernels/cpu/isa.h"
#include "tests/golden.h"
#include "tests/golden_attention.h"
#include "vit/json.h"
#include "vit/weights/safetensors.h"

namespace vitascope::kernels {
namespace {

const Json& cases() {
  static const Json all = read_json(tests::golden("attention/cases.json")).at("cases");
  return all;
}

double largest_finite(const at::Tensor& tensor) {
  const at::Tensor finite = tensor.masked_select(tensor.isfinite());
  return finite.numel() == 0 ? 0 : finite.abs().max().item<double>();
}

/// One problem with its answers, in float64.
class Golden {
 public:
  explicit Golden(const Json& info)
      : info_(info),
        stored_(weights::read_safetensors(
            tests::golden("attention/" + info.at("file").get<std::string>()))) {}

  bool has(const std::string& name) const { return stored_.tensors.contains(name); }

  at::Tensor operator[](const std::string& name) const {
    const weights::StoredTensor& stored = stored_.tensors.at(name);
    return at::from_blob(const_cast<std::byte*>(stored.bytes.data()), stored.shape, at::kFloat)
        .to(at::kDouble);
  }

  /// q, k or v as [B, H, N, D] in a precision; views of the packed projection where the case is
  /// one.
  at::Tensor operand(int which, at::ScalarType type) const {
    if (has("qkv")) return (*this)["qkv"].to(type).permute({2, 0, 3, 1, 4})[which];
    return (*this)[std::string(1, "qkv"[which])].to(type);
  }

  std::array<at::Tensor, 3> operands(at::ScalarType type) const {
    return {operand(0, type), operand(1, type), operand(2, type)};
  }

  /// A gradient of an operand as [B, H, N, D].
  at::Tensor gradient(int which) const {
    if (has("qkv")) return (*this)["dqkv"].permute({2, 0, 3, 1, 4})[which];
    return (*this)[std::string("d") + "qkv"[which]];
  }

  /// Rows of an operand whose gradient must be exactly 0, [B, 1|H, N, 1]: queries that see no key,
  /// and keys that padding hides.
  at::Tensor without_gradient(int which) const {
    if (which == 0) return (*this)["lse"].isinf().unsqueeze(-1);
    if (has("key_mask")) return (*this)["key_mask"].eq(0).unsqueeze(1).unsqueeze(-1);
    return at::zeros({1}, at::kBool);
  }

  /// out or dout as [B, N, H * D].
  at::Tensor joined(const std::string& name) const {
    const at::Tensor tensor = (*this)[name];
    return (has("qkv") ? tensor : tensor.transpose(1, 2)).flatten(2);
  }

  AttentionOptions options() const {
    AttentionOptions options;
    options.scale = info_.at("scale").get<double>();
    options.causal = info_.value("causal", false);
    if (info_.contains("window")) options.window = info_.at("window").get<std::int64_t>();
    if (info_.contains("grid")) {
      const Json& grid = info_.at("grid");
      options.grid =
          GridWindow{grid.at("prefix"), grid.at("gh"), grid.at("gw"), grid.at("wr"), grid.at("wc")};
    }
    if (info_.contains("dead_rows")) {
      options.mask = (*this)["attn_mask"].to(at::kBool).unsqueeze(0).unsqueeze(0);
    } else if (info_.contains("key_lengths") && info_.value("padding_side", "right") == "right") {
      options.key_lengths = at::tensor(info_.at("key_lengths").get<std::vector<std::int64_t>>());
    } else if (has("key_mask")) {
      options.mask = (*this)["key_mask"].to(at::kBool).unsqueeze(1).unsqueeze(1);
    }
    if (has("bias")) options.bias = (*this)["bias"].to(at::kFloat);
    return options;
  }

  /// The largest error that `name` may have: out, lse, a kind of map or a gradient.
  double limit(const std::string& name, at::ScalarType type, const at::Tensor& expected) const {
    const std::string precision = type == at::kFloat      ? "float32"
                                  : type == at::kBFloat16 ? "bfloat16"
                                                          : "float16";
    return tests::attention_limit(info_, name, precision, largest_finite(expected),
                                  largest_finite((*this)["lse"]));
  }

 private:
  const Json& info_;
  weights::StoredTensors stored_;
};

struct Setting {
  cpu::Isa isa;
  at::ScalarType type;
};

class AttentionGolden : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override { setenv("VITASCOPE_CPU_ISA", cpu::isa_name(GetParam().isa), 1); }
  void TearDown() override { unsetenv("VITASCOPE_CPU_ISA"); }

  static void expect_close(const Golden& golden, const std::string& name, const at::Tensor& ours,
                           const at::Tensor& expected) {
    ASSERT_EQ(ours.sizes(), expected.sizes()) << name;
    const at::Tensor x = ours.to(at::kDouble);
    // -infinity and the zeros of what is hidden must be just that.
    EXPECT_TRUE(x.isfinite().equal(expected.isfinite())) << name;
    const at::Tensor same = x.eq(expected) | expected.eq(0).logical_and(x.eq(0));
    const at::Tensor error = (x - expected).abs().masked_fill(same, 0);
    EXPECT_LE(error.max().item<double>(), golden.limit(name, GetParam().type, expected)) << name;
  }
};

TEST_P(AttentionGolden, ForwardAndMapsKeepTheLimits) {
  const at::ScalarType type = GetParam().type;
  for (const Json& info : cases()) {
    SCOPED_TRACE(info.at("file").get<std::string>());
    const Golden golden(info);
    const auto [q, k, v] = golden.operands(type);
    const AttentionOptions options = golden.options();
    const Attended attended = attention(q, k, v, options);
    expect_close(golden, "out", attended.out, golden.joined("out"));
    expect_close(golden, "lse", attended.lse, golden["lse"]);
    const at::Tensor first = at::zeros({1}, at::kLong);
    const at::Tensor cls = attention_map(q, k, attended.lse, options, {.rows = first});
    expect_close(golden, "cls_probs", cls.squeeze(2), golden["cls_probs"]);
    const at::Tensor mean = attention_map(q, k, attended.lse, options, {.head_mean = true});
    expect_close(golden, "cls_probs", mean.select(2, 0).squeeze(1), golden["cls_probs_headmean"]);
    if (golden.has("probs_headmean")) {
      expect_close(golden, "probs_headmean", mean.squeeze(1), golden["probs_headmean"]);
    }
  }
}

TEST_P(AttentionGolden, GradientsKeepTheLimits) {
  const at::ScalarType type = GetParam().type;
  for (const Json& info : cases()) {
    SCOPED_TRACE(info.at("file").get<std::string>());
    const Golden golden(info);
    auto operands = golden.operands(type);
    for (at::Tensor& operand : operands) operand = operand.detach().requires_grad_();
    AttentionOptions options = golden.options();
    if (options.bias.defined()) options.bias.requires_grad_();
    const at::Tensor out = attention(operands[0], operands[1], operands[2], options).out;
    out.backward(golden.joined("dout").to(type));
    for (int i = 0; i < 3; ++i) {
      const std::string name = std::string("d") + "qkv"[i];
      const at::Tensor expected = golden.gradient(i);
      expect_close(golden, name, operands[i].grad(), expected);
      EXPECT_TRUE(
          operands[i].grad().masked_select(golden.without_gradient(i)).eq(0).all().item<bool>())
          << name;
    }
    if (options.bias.defined() && type == at::kFloat) {
      expect_close(golden, "dbias", options.bias.grad(), golden["dbias"]);
    }
  }
}

TEST_P(AttentionGolden, MapGradientsAreDoutTimesV) {
  const at::ScalarType type = GetParam().type;
  for (const Json& info : cases()) {
    SCOPED_TRACE(info.at("file").get<std::string>());
    const Golden golden(info);
    const auto [q, k, v] = golden.operands(type);
    const at::Tensor dout = golden.joined("dout");
    const AttentionOptions options = golden.options();
    const at::Tensor gradient = attention_map_gradient(q, k, v, dout.to(type), options);
    const at::Tensor heads =
        dout.view({q.size(0), q.size(2), q.size(1), q.size(3)}).transpose(1, 2);
    const at::Tensor exact = at::matmul(heads, golden.operand(2, at::kDouble).transpose(-2, -1));
    const at::Tensor map = attention_map(q, k, attention(q, k, v, options).lse, options);
    // Visible keys of these cases have probabilities that float32 does not round to 0, except where
    // scores are huge.
    const at::Tensor hidden = info.contains("huge") ? at::zeros_like(map, at::kBool) : map.eq(0);
    EXPECT_TRUE(gradient.masked_select(hidden).eq(0).all().item<bool>());
    const at::Tensor error = (gradient.to(at::kDouble) - exact).abs().masked_fill(hidden, 0);
    EXPECT_LE(error.max().item<double>(),
              1e-5 * exact.masked_fill(hidden, 0).abs().max().item<double>());
  }
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const cpu::Isa isa : cpu::available_isas()) {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      all.push_back({isa, type});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Cpu, AttentionGolden, testing::ValuesIn(settings()), [](const auto& info) {
  return std::string(cpu::isa_name(info.param.isa)) + "_" + c10::toString(info.param.type);
});

}  // namespace
}  // namespace vitascope::kernels
