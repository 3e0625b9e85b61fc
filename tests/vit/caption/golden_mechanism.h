#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/golden.h"
#include "tests/vit/train/random_tensors.h"
#include "vit/caption/slots.h"
#include "vit/json.h"
#include "vit/weights/safetensors.h"
#include "vit/weights/tensor_assembly.h"

/// \file
/// The files of tests/golden/mechanisms and what they are compared by.
namespace vitascope::caption::tests {

/// One file.
class GoldenMechanism {
 public:
  explicit GoldenMechanism(const std::string& name)
      : stored_(weights::read_safetensors(
            vitascope::tests::golden("mechanisms/" + name + ".safetensors"))) {}

  bool has(const std::string& name) const { return stored_.tensors.contains(name); }
  at::Tensor operator[](const std::string& name) const {
    return weights::view_of(stored_.tensors.at(name)).clone();
  }
  at::Tensor numbers(const std::string& name) const { return (*this)[name].to(at::kLong); }
  double number(const std::string& name) const { return (*this)[name].item<double>(); }
  /// A leaf of the graph.
  at::Tensor leaf(const std::string& name) const { return (*this)[name].requires_grad_(); }

  /// bool [B, count]: places before `lengths`.
  at::Tensor mask(std::int64_t count) const {
    return at::arange(count).unsqueeze(0) < numbers("lengths").unsqueeze(1);
  }

  /// Makes every slot a leaf with the values of this file.
  void fill(const Slots& slots) const {
    for (const Slot& slot : slots) {
      *slot.tensor = leaf(slot.name);
      EXPECT_EQ(slot.tensor->sizes(), at::IntArrayRef(slot.shape)) << slot.name;
    }
  }

  /// err <= relative * scale + absolute, where scale is the largest that is expected.
  void expect(const std::string& name, const at::Tensor& got, double relative = 1e-5,
              double absolute = 0) const {
    const at::Tensor exact = (*this)[name].to(at::kDouble);
    ASSERT_TRUE(got.defined()) << name;
    const at::Tensor error = (got.detach().to(at::kDouble).view_as(exact) - exact).abs();
    EXPECT_LE(error.max().item<double>(), relative * exact.abs().max().item<double>() + absolute)
        << name;
  }

  void expect_gradient(const std::string& name, const at::Tensor& leaf,
                       const std::string& prefix = "grad.") const {
    SCOPED_TRACE(name);
    // No gradient is one of 0: b_K of several heads is felt by nothing, golden's is rounding.
    expect(prefix + name, leaf.grad().defined() ? leaf.grad() : at::zeros_like(leaf), 5e-5, 1e-6);
  }
  void expect_gradients(const Slots& slots) const {
    for (const Slot& slot : slots) expect_gradient(slot.name, *slot.tensor);
  }

 private:
  weights::StoredTensors stored_;
};

/// The sizes of a part.
inline Json golden_sizes(const std::string& part) {
  return read_json(vitascope::tests::golden("mechanisms/config.json")).at(part);
}

using vitascope::train::tests::normal_tensor;

/// Whether two tensors differ by rounding only.
inline void expect_close(const at::Tensor& got, const at::Tensor& expected, double absolute) {
  ASSERT_EQ(got.sizes(), expected.sizes());
  EXPECT_LE((got - expected).abs().max().item<double>(), absolute);
}

}  // namespace vitascope::caption::tests
