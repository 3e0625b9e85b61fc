#include "vit/train/optimizer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "vit/error.h"

namespace vitascope::train {
namespace {

void validate(const Method& method) {
  const auto require = [](const char* name, double value) {
    if (!(value >= 0 && value < 1)) {
      throw UsageError(
          fmt::format("the optimizer's {} is {}: expected 0 or more and below 1", name, value));
    }
  };
  if (const auto* adamw = std::get_if<AdamW>(&method)) {
    require("beta1", adamw->beta1);
    require("beta2", adamw->beta2);
    if (!(adamw->epsilon > 0)) {
      throw UsageError(
          fmt::format("the optimizer's epsilon is {}: expected above 0", adamw->epsilon));
    }
    return;
  }
  const Sgd& sgd = std::get<Sgd>(method);
  require("momentum", sgd.momentum);
  if (sgd.nesterov && sgd.momentum == 0) {
    throw UsageError("nesterov without momentum: expected a momentum above 0");
  }
}

bool is_half(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kBFloat16 || tensor.scalar_type() == at::kHalf;
}

std::vector<at::Tensor> zeros_like(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> result;
  result.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) result.push_back(at::zeros_like(tensor));
  return result;
}

std::vector<at::Tensor> picked(const std::vector<at::Tensor>& all,
                               const std::vector<std::size_t>& members) {
  std::vector<at::Tensor> result;
  result.reserve(members.size());
  for (const std::size_t member : members) result.push_back(all[member]);
  return result;
}

}  // namespace

Optimizer::Optimizer(std::vector<Parameter> parameters, const Method& method)
    : parameters_(std::move(parameters)), method_(method) {
  validate(method_);
  const c10::AutoGradMode no_gradient(false);
  std::map<std::pair<double, double>, std::size_t> group_of;
  std::set<std::string> names;
  weights_.reserve(parameters_.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto& [name, tensor, rule] = parameters_[i];
    if (!names.insert(name).second) throw std::invalid_argument("two parameters named " + name);
    if (!tensor.is_contiguous()) {
      throw std::invalid_argument("the parameter " + name + " is not contiguous");
    }
    weights_.push_back(is_half(tensor) ? tensor.to(at::kFloat) : tensor.detach());
    const auto [found, fresh] =
        group_of.try_emplace({rule.rate_scale, rule.weight_decay}, groups_.size());
    if (fresh) groups_.push_back({rule, {}});
    groups_[found->second].members.push_back(i);
  }
  if (const auto* method = std::get_if<Sgd>(&method_)) {
    if (method->momentum > 0) momentum_ = zeros_like(weights_);
    return;
  }
  exp_avg_ = zeros_like(weights_);
  exp_avg_sq_ = zeros_like(weights_);
  steps_.reserve(weights_.size());
  for (const at::Tensor& weight : weights_) {
    steps_.push_back(at::zeros({}, weight.options().dtype(at::kFloat)));
  }
}

void Optimizer::step(double rate) {
  const c10::AutoGradMode no_gradient(false);
  for (const Group& group : groups_) {
    if (const auto* method = std::get_if<AdamW>(&method_)) {
      adamw(*method, group, rate * group.rule.rate_scale);
    } else {
      sgd(std::get<Sgd>(method_), group, rate * group.rule.rate_scale);
    }
  }
  write_back();
}

std::pair<std::vector<std::size_t>, std::vector<at::Tensor>> Optimizer::gradients_of(
    const Group& group) {
  std::vector<std::size_t> members;
  std::vector<at::Tensor> gradients;
  members.reserve(group.members.size());
  gradients.reserve(group.members.size());
  for (const std::size_t member : group.members) {
    const at::Tensor gradient = parameters_[member].tensor.grad();
    if (!gradient.defined()) continue;
    members.push_back(member);
    gradients.push_back(gradient.to(weights_[member].scalar_type()).contiguous());
  }
  return {members, gradients};
}

void Optimizer::adamw(const AdamW& method, const Group& group, double rate) {
  const auto [members, gradients] = gradients_of(group);
  if (members.empty()) return;
  const std::vector<at::Tensor> steps = picked(steps_, members);
  at::_foreach_add_(steps, 1);
  at::_fused_adamw_(picked(weights_, members), gradients, picked(exp_avg_, members),
                    picked(exp_avg_sq_, members), /*max_exp_avg_sqs=*/{}, steps, rate, method.beta1,
                    method.beta2, group.rule.weight_decay, method.epsilon, /*amsgrad=*/false,
                    /*maximize=*/false);
}

void Optimizer::sgd(const Sgd& method, const Group& group, double rate) {
  const auto [members, gradients] = gradients_of(group);
  if (members.empty()) return;
  // A momentum that starts at 0 makes the first step like the others; without momentum the kernel
  // takes no list.
  at::_fused_sgd_(picked(weights_, members), gradients,
                  momentum_.empty() ? std::vector<at::Tensor>() : picked(momentum_, members),
                  group.rule.weight_decay, method.momentum, rate, /*dampening=*/0, method.nesterov,
                  /*maximize=*/false, /*is_first_step=*/false);
}

void Optimizer::write_back() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (is_half(parameters_[i].tensor)) parameters_[i].tensor.copy_(weights_[i]);
  }
}

void Optimizer::clear_gradients() {
  for (Parameter& parameter : parameters_) parameter.tensor.mutable_grad().reset();
}

NamedTensors Optimizer::weights() const {
  NamedTensors result;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    result.emplace(parameters_[i].name, weights_[i]);
  }
  return result;
}

NamedTensors Optimizer::state() const {
  NamedTensors result;
  const auto add = [&](const std::string& kind, const std::vector<at::Tensor>& tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      result.emplace(fmt::format("{}.{}", kind, parameters_[i].name), tensors[i]);
    }
  };
  add("exp_avg", exp_avg_);
  add("exp_avg_sq", exp_avg_sq_);
  add("step", steps_);
  add("momentum", momentum_);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!is_half(parameters_[i].tensor)) continue;
    result.emplace("master." + parameters_[i].name, weights_[i]);
  }
  return result;
}

void Optimizer::restore(const NamedTensors& state) {
  restore_values(state, this->state());
  const c10::AutoGradMode no_gradient(false);
  write_back();
}

double gradient_norm(std::span<const Parameter> parameters) {
  const c10::AutoGradMode no_gradient(false);
  std::vector<at::Tensor> norms;
  norms.reserve(parameters.size());
  for (const Parameter& parameter : parameters) {
    const at::Tensor gradient = parameter.tensor.grad();
    if (!gradient.defined()) continue;
    norms.push_back(gradient.to(is_half(gradient) ? at::kFloat : gradient.scalar_type())
                        .norm()
                        .to(at::kDouble));
  }
  return norms.empty() ? 0 : at::stack(norms).norm().item<double>();
}

void scale_gradients(std::span<const Parameter> parameters, double norm, double max_norm) {
  const double scale = max_norm / (norm + 1e-6);
  if (!std::isfinite(norm) || scale >= 1) return;
  const c10::AutoGradMode no_gradient(false);
  for (const Parameter& parameter : parameters) {
    at::Tensor gradient = parameter.tensor.grad();
    if (gradient.defined()) gradient.mul_(scale);
  }
}

double clip_gradients(std::span<const Parameter> parameters, double max_norm) {
  const double norm = gradient_norm(parameters);
  scale_gradients(parameters, norm, max_norm);
  return norm;
}

}  // namespace vitascope::train
