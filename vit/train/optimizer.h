#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "vit/train/named_tensors.h"
#include "vit/train/parameter_groups.h"

/// \file
/// Gradients -> the next weights, through LibTorch's fused kernels.
namespace vitascope::train {

/// A parameter under training: a contiguous leaf of autograd's graph, in memory that may be written
/// (weights as they are opened may be a mapped file: clone them).
struct Parameter {
  std::string name;  ///< timm's
  at::Tensor tensor;
  ParameterRule rule{};
};

/// AdamW: p -= rate decay p, then rate m' / (sqrt(v') + epsilon), m' and v' the bias-corrected
/// means of the gradient and of its square (Loshchilov and Hutter 2019, arXiv:1711.05101).
struct AdamW {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
};

/// SGD with momentum: g += decay p, b = momentum b + g, p -= rate b; with nesterov
/// p -= rate (g + momentum b) (Sutskever et al. 2013). Weight decay is part of the gradient here.
struct Sgd {
  double momentum = 0.9;
  bool nesterov = false;
};

/// Which of them.
using Method = std::variant<AdamW, Sgd>;

/// Keeps what a method remembers of each parameter. Parameters in bfloat16 or float16 have their
/// exact weights in float32 here; the parameter is those, rounded.
class Optimizer {
 public:
  /// \throws UsageError when an option of the method is out of range
  /// \throws std::invalid_argument when a parameter is not contiguous or comes twice
  Optimizer(std::vector<Parameter> parameters, const Method& method);

  const std::vector<Parameter>& parameters() const { return parameters_; }

  /// One update by the gradients that the parameters hold; a parameter without one stays as it is.
  /// \param rate of this step, before the parameters' rate_scale
  void step(double rate);

  /// Takes the gradients away, so that the next backward pass starts anew.
  void clear_gradients();

  /// The exact weights by parameter name: what an average follows.
  NamedTensors weights() const;

  /// All that the steps to come depend on beside the weights themselves: `exp_avg.NAME`,
  /// `exp_avg_sq.NAME`, `step.NAME`; `momentum.NAME`; `master.NAME` for exact weights kept here.
  NamedTensors state() const;

  /// Goes on where `state` was taken; parameters with exact weights here are set from them.
  /// \throws std::invalid_argument that names what does not fit
  void restore(const NamedTensors& state);

 private:
  /// Parameters of one rule: one call of the fused kernel.
  struct Group {
    ParameterRule rule;
    std::vector<std::size_t> members;
  };

  void adamw(const AdamW& method, const Group& group, double rate);
  void sgd(const Sgd& method, const Group& group, double rate);
  /// The members that have a gradient, and those gradients as the kernels want them.
  std::pair<std::vector<std::size_t>, std::vector<at::Tensor>> gradients_of(const Group& group);
  void write_back();

  std::vector<Parameter> parameters_;
  Method method_;
  std::vector<Group> groups_;
  // One tensor a parameter in each; those that the method does not need are empty.
  std::vector<at::Tensor> weights_, exp_avg_, exp_avg_sq_, steps_, momentum_;
};

/// The norm of all gradients together.
double gradient_norm(std::span<const Parameter> parameters);

/// Scales gradients of a norm as clip_gradients does.
void scale_gradients(std::span<const Parameter> parameters, double norm, double max_norm);

/// Scales gradients by min(1, max_norm / (norm + 1e-6)), where norm is that of all of them
/// together. Gradients whose norm is not finite stay as they are. \return the norm before
double clip_gradients(std::span<const Parameter> parameters, double max_norm);

}  // namespace vitascope::train
