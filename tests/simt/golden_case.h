#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/attention_problem.h"
#include "tests/simt/emulator.h"
#include "tests/simt/global_memory.h"

/// \file
/// The attention problems of tests/golden/attention as kernels take them.
namespace simt {

using vitascope::kernels::Element;

/// A float32 tensor of the file.
struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

/// One case: what cases.json says, and the tensors of its file.
struct GoldenCase {
  nlohmann::json info;
  std::map<std::string, Tensor> tensors;

  bool packed() const { return info.value("packed", false); }
  bool huge() const { return info.contains("huge"); }
  std::int64_t size(const char* name) const { return info.at(name).get<std::int64_t>(); }
  /// Largest error that a kernel of the type may have in `tensor` ("out", "lse", "dq", ...).
  double limit(const std::string& tensor, Element element) const;
};

/// Names of the cases' files, without their ending.
std::vector<std::string> golden_case_names();
GoldenCase read_golden_case(const std::string& name);

/// Elements of the type in memory that kernels may touch.
class DeviceArray {
 public:
  DeviceArray(std::size_t count, Element element, std::size_t misalignment = 0);
  DeviceArray(const std::vector<float>& values, Element element, std::size_t misalignment = 0);
  float operator[](std::size_t i) const;
  void* data() const { return buffer_.data(); }
  std::size_t size() const { return count_; }

 private:
  Element element_;
  std::size_t count_;
  GlobalBuffer buffer_;
};

/// A problem's inputs, where a kernel may read them.
class DeviceInputs {
 public:
  /// \param misalignment    bytes that q, k and v lie behind a multiple of 16
  /// \param lengths_as_mask say key_lengths by a mask
  DeviceInputs(const GoldenCase& golden, Element element, std::size_t misalignment = 0,
               bool lengths_as_mask = false);
  /// Everything but results and what only one kind of problem has.
  void describe(vitascope::kernels::AttentionProblem& problem) const;

 private:
  const GoldenCase* golden_;
  Element element_;
  bool has_mask_;
  DeviceArray q_, k_, v_;
  GlobalBuffer key_lengths_, mask_;
  DeviceArray bias_;
};

/// Strides of [B, H, N, D] that lies as [B, N, H, D].
vitascope::kernels::Strides rows_of_heads(std::int64_t heads, std::int64_t tokens,
                                          std::int64_t width);
/// Strides of [B, H, N, D] that lies so.
vitascope::kernels::Strides planes(std::int64_t heads, std::int64_t tokens, std::int64_t width);

/// A tensor of the case, "out", "dout", "dq", "dk" or "dv", in the order [B, H, N, D] whatever the
/// order of the file.
std::vector<float> in_planes(const GoldenCase& golden, const std::string& name);

}  // namespace simt
