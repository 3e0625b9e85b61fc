#include "vit/train/gradient_buckets.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace vitascope::train {

/// Autograd calls it when a parameter's gradient is there.
struct GradientBuckets::Hook : torch::autograd::PostAccumulateGradHook {
  Hook(GradientBuckets* owner, std::size_t index) : buckets(owner), parameter(index) {}
  void operator()(const at::Tensor& /*variable*/) override { buckets->arrive(parameter); }

  GradientBuckets* buckets;
  std::size_t parameter;
};

GradientBuckets::GradientBuckets(std::span<const Parameter> parameters, ProcessGroup& group,
                                 std::int64_t bytes)
    : group_(group), places_(parameters.size()) {
  parameters_.reserve(parameters.size());
  for (const Parameter& parameter : parameters) parameters_.push_back(parameter.tensor);
  const std::int64_t room = bytes / static_cast<std::int64_t>(sizeof(float));
  std::vector<std::int64_t> filled;
  for (std::size_t i = parameters_.size(); i-- > 0;) {
    const std::int64_t size = parameters_[i].numel();
    if (filled.empty() || filled.back() + size > room) {
      filled.push_back(0);
      buckets_.emplace_back();
    }
    places_[i] = {.bucket = buckets_.size() - 1, .offset = filled.back()};
    filled.back() += size;
    ++buckets_.back().members;
  }
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    buckets_[i].values = at::zeros({filled[i] + buckets_[i].members}, at::kFloat);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    places_[i].flag = filled[places_[i].bucket]++;
    torch::autograd::impl::set_post_acc_grad_hooks(parameters_[i], std::make_unique<Hook>(this, i));
  }
}

GradientBuckets::~GradientBuckets() {
  for (const at::Tensor& parameter : parameters_) {
    torch::autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
  }
}

void GradientBuckets::begin() {
  for (Place& place : places_) place.arrived = false;
  for (Bucket& bucket : buckets_) bucket.missing = bucket.members;
  sums_.clear();
  active_ = true;
}

void GradientBuckets::arrive(std::size_t parameter) {
  Place& place = places_[parameter];
  if (!active_ || place.arrived) return;
  const c10::AutoGradMode no_gradient(false);
  place.arrived = true;
  Bucket& bucket = buckets_[place.bucket];
  const at::Tensor& gradient = parameters_[parameter].grad();
  const at::Tensor values = bucket.values.narrow(0, place.offset, parameters_[parameter].numel());
  if (gradient.defined()) {
    values.copy_(gradient.reshape({-1}));
  } else {
    values.zero_();
  }
  bucket.values[place.flag].fill_(gradient.defined() ? 1 : 0);
  --bucket.missing;
  begin_sums();
}

/// Bucket after bucket, so that all processes sum the same ones together.
void GradientBuckets::begin_sums() {
  while (sums_.size() < buckets_.size() && buckets_[sums_.size()].missing == 0) {
    sums_.push_back(group_.begin_sum(buckets_[sums_.size()].values));
  }
}

void GradientBuckets::finish() {
  const c10::AutoGradMode no_gradient(false);
  if (!active_) begin();
  for (std::size_t i = parameters_.size(); i-- > 0;) arrive(i);
  active_ = false;
  for (PendingSum& sum : sums_) sum.wait();
  sums_.clear();
  for (std::size_t i = 0; i < parameters_.size(); ++i) write_back(i);
}

void GradientBuckets::write_back(std::size_t parameter) {
  const Place& place = places_[parameter];
  const at::Tensor& values = buckets_[place.bucket].values;
  if (values[place.flag].item<float>() == 0) return;
  at::Tensor& tensor = parameters_[parameter];
  const at::Tensor sum = values.narrow(0, place.offset, tensor.numel()).view(tensor.sizes());
  if (!tensor.grad().defined()) tensor.mutable_grad() = at::empty_like(tensor);
  tensor.mutable_grad().copy_(sum);
}

}  // namespace vitascope::train
