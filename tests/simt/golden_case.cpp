#include "tests/simt/golden_case.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include "tests/golden.h"
#include "tests/golden_attention.h"
#include "tests/simt/instructions.h"
#include "vit/weights/safetensors.h"

namespace simt {
namespace {

using vitascope::kernels::AttentionProblem;
using vitascope::kernels::Strides;
using vitascope::tests::golden;

nlohmann::json read_cases() {
  std::ifstream file(golden("attention/cases.json"));
  return nlohmann::json::parse(file).at("cases");
}

std::string stem(const nlohmann::json& info) {
  const std::string file = info.at("file");
  return file.substr(0, file.rfind('.'));
}

/// q, k or v: from the packed projection [B, N, 3, H, D] all of it, which k and v share with q.
const std::vector<float>& input(const GoldenCase& golden, const char* name) {
  return golden.tensors.at(golden.packed() ? "qkv" : name).values;
}

double largest_finite(const std::vector<float>& values) {
  double largest = 0;
  for (const float x : values) {
    if (std::abs(x) < INFINITY) largest = std::max<double>(largest, std::abs(x));
  }
  return largest;
}

bool needs_mask(const GoldenCase& golden) {
  return golden.info.contains("dead_rows") ||
         (golden.tensors.contains("key_mask") && (!golden.info.contains("key_lengths") ||
                                                  golden.info.value("padding_side", "") == "left"));
}

}  // namespace

double GoldenCase::limit(const std::string& tensor, Element element) const {
  const char* precision = element == Element::f32    ? "float32"
                          : element == Element::bf16 ? "bfloat16"
                                                     : "float16";
  const bool rows = tensor.front() == 'd' || tensor == "out";
  return vitascope::tests::attention_limit(
      info, tensor, precision,
      largest_finite(rows ? in_planes(*this, tensor) : tensors.at(tensor).values),
      largest_finite(tensors.at("lse").values));
}

std::vector<std::string> golden_case_names() {
  std::vector<std::string> names;
  for (const auto& info : read_cases()) names.push_back(stem(info));
  return names;
}

GoldenCase read_golden_case(const std::string& name) {
  GoldenCase result;
  for (const auto& info : read_cases()) {
    if (stem(info) == name) result.info = info;
  }
  const auto file =
      vitascope::weights::read_safetensors(golden("attention/" + name + ".safetensors"));
  for (const auto& [key, stored] : file.tensors) {
    Tensor tensor{stored.shape, std::vector<float>(stored.bytes.size() / sizeof(float))};
    std::memcpy(tensor.values.data(), stored.bytes.data(), stored.bytes.size());
    result.tensors.emplace(key, std::move(tensor));
  }
  return result;
}

DeviceArray::DeviceArray(std::size_t count, Element element, std::size_t misalignment)
    : element_(element),
      count_(count),
      buffer_(count * (element == Element::f32 ? 4 : 2), misalignment) {}

DeviceArray::DeviceArray(const std::vector<float>& values, Element element,
                         std::size_t misalignment)
    : DeviceArray(values.size(), element, misalignment) {
  if (element == Element::f32) {
    std::memcpy(buffer_.data(), values.data(), buffer_.size());
    return;
  }
  auto* elements = reinterpret_cast<std::uint16_t*>(buffer_.data());
  std::transform(values.begin(), values.end(), elements,
                 element == Element::bf16 ? to_bf16 : to_f16);
}

float DeviceArray::operator[](std::size_t i) const {
  if (element_ == Element::f32) return reinterpret_cast<const float*>(buffer_.data())[i];
  const auto bits = reinterpret_cast<const std::uint16_t*>(buffer_.data())[i];
  return element_ == Element::bf16 ? from_bf16(bits) : from_f16(bits);
}

Strides rows_of_heads(std::int64_t heads, std::int64_t tokens, std::int64_t width) {
  return {tokens * heads * width, width, heads * width};
}

Strides planes(std::int64_t heads, std::int64_t tokens, std::int64_t width) {
  return {heads * tokens * width, tokens * width, width};
}

DeviceInputs::DeviceInputs(const GoldenCase& golden, Element element, std::size_t misalignment,
                           bool lengths_as_mask)
    : golden_(&golden),
      element_(element),
      has_mask_(needs_mask(golden) || lengths_as_mask),
      q_(input(golden, "q"), element, misalignment),
      k_(golden.packed() ? std::vector<float>() : input(golden, "k"), element, misalignment),
      v_(golden.packed() ? std::vector<float>() : input(golden, "v"), element, misalignment),
      key_lengths_(golden.size("B") * sizeof(std::int64_t)),
      mask_(golden.size("B") * golden.size("Nq") * golden.size("Nk")),
      bias_(
          golden.tensors.contains("bias") ? golden.tensors.at("bias").values : std::vector<float>(),
          Element::f32) {
  const std::int64_t batch = golden.size("B"), queries = golden.size("Nq"),
                     keys = golden.size("Nk");
  if (golden.info.contains("key_lengths")) {
    const auto lengths = golden.info["key_lengths"].get<std::vector<std::int64_t>>();
    std::memcpy(key_lengths_.data(), lengths.data(), key_lengths_.size());
  }
  if (!has_mask_) return;
  const auto flag = [&](const char* name, std::int64_t at) {
    return !golden.tensors.contains(name) || golden.tensors.at(name).values[at] != 0;
  };
  for (std::int64_t i = 0; i < batch * queries * keys; ++i) {
    mask_.data()[i] = flag("key_mask", i / (queries * keys) * keys + i % keys) &&
                      flag("attn_mask", i % (queries * keys));
  }
}

void DeviceInputs::describe(AttentionProblem& problem) const {
  const GoldenCase& golden = *golden_;
  const auto& info = golden.info;
  problem.batch = golden.size("B");
  problem.heads = golden.size("H");
  problem.queries = golden.size("Nq");
  problem.keys = golden.size("Nk");
  problem.width = golden.size("D");
  problem.scale = info.at("scale").get<float>();
  problem.element = element_;
  problem.q = q_.data();
  problem.k = k_.data();
  problem.v = v_.data();
  problem.q_strides = planes(problem.heads, problem.queries, problem.width);
  problem.k_strides = problem.v_strides = planes(problem.heads, problem.keys, problem.width);
  if (golden.packed()) {
    const std::int64_t bytes = problem.heads * problem.width * (element_ == Element::f32 ? 4 : 2);
    problem.k = static_cast<const unsigned char*>(q_.data()) + bytes;
    problem.v = static_cast<const unsigned char*>(q_.data()) + 2 * bytes;
    const std::int64_t row = 3 * problem.heads * problem.width;
    problem.q_strides = problem.k_strides =
        problem.v_strides = {problem.queries * row, problem.width, row};
  }
  if (info.contains("dropout")) {
    problem.dropout = {info["dropout"]["probability"], info["dropout"]["seed"]};
  }
  auto& visible = problem.visible;
  visible.causal = info.value("causal", false);
  visible.window = info.value("window", -1);
  if (info.contains("grid")) {
    const auto& grid = info["grid"];
    visible.grid = {grid["prefix"], grid["gh"], grid["gw"], grid["wr"], grid["wc"]};
  }
  if (has_mask_) {
    visible.mask = reinterpret_cast<const bool*>(mask_.data());
    visible.mask_strides = {problem.queries * problem.keys, 0, problem.keys};
  } else if (info.contains("key_lengths")) {
    visible.key_lengths = reinterpret_cast<const std::int64_t*>(key_lengths_.data());
  }
  if (golden.tensors.contains("bias")) {
    const auto& shape = golden.tensors.at("bias").shape;
    const std::int64_t plane = shape[2] * shape[3];
    problem.bias = static_cast<const float*>(bias_.data());
    problem.bias_strides = {shape[0] > 1 ? shape[1] * plane : 0, shape[1] > 1 ? plane : 0,
                            shape[3]};
  }
}

std::vector<float> in_planes(const GoldenCase& golden, const std::string& name) {
  const bool is_packed_gradient = golden.packed() && name.size() == 2;
  const auto& values = golden.tensors.at(is_packed_gradient ? "dqkv" : name).values;
  if (!golden.packed()) return values;
  const std::int64_t batch = golden.size("B"), heads = golden.size("H"), tokens = golden.size("Nq"),
                     width = golden.size("D");
  const std::int64_t parts = is_packed_gradient ? 3 : 1;
  const std::int64_t part = is_packed_gradient ? std::string("qkv").find(name[1]) : 0;
  std::vector<float> result(batch * heads * tokens * width);
  const Strides strides = planes(heads, tokens, width);
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t n = 0; n < tokens; ++n) {
      for (std::int64_t h = 0; h < heads; ++h) {
        const auto from =
            values.begin() + ((((b * tokens + n) * parts + part) * heads + h) * width);
        std::copy(from, from + width, result.begin() + strides.offset(b, h, n));
      }
    }
  }
  return result;
}

}  // namespace simt
