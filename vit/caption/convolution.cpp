#include "vit/caption/convolution.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace vitascope::caption {
namespace {

using Scalars = c10::List<std::optional<at::Scalar>>;
using Word = std::optional<std::string_view>;
using OptionalTensor = std::optional<at::Tensor>;
using Reorder = at::Tensor(const at::Tensor&, c10::SymIntArrayRef, c10::SymIntArrayRef,
                           c10::SymIntArrayRef, std::int64_t, at::OptionalSymIntArrayRef);
using Convolve = at::Tensor(const at::Tensor&, const at::Tensor&, const OptionalTensor&,
                            at::IntArrayRef, at::IntArrayRef, at::IntArrayRef, std::int64_t,
                            std::string_view, Scalars, Word);
using ConvolveAndAdd = at::Tensor&(at::Tensor&, const at::Tensor&, const at::Tensor&,
                                   const OptionalTensor&, at::IntArrayRef, at::IntArrayRef,
                                   at::IntArrayRef, std::int64_t, std::string_view,
                                   std::optional<at::Scalar>, Word, Scalars, Word);

/// Nothing where LibTorch was built without oneDNN.
template <typename Signature>
std::optional<c10::TypedOperatorHandle<Signature>> find_operator(const char* name,
                                                                 const char* overload = "") {
  const auto handle = c10::Dispatcher::singleton().findSchema({name, overload});
  if (!handle) return std::nullopt;
  return handle->typed<Signature>();
}

/// Zeros before and behind, in one direction.
struct Zeros {
  std::int64_t before = 0, behind = 0;
};

Zeros zeros_of(const Convolution& convolution, std::int64_t size) {
  if (!convolution.same_padding) return {convolution.kernel / 2, convolution.kernel / 2};
  const std::int64_t outputs = (size + convolution.stride - 1) / convolution.stride;
  const std::int64_t total =
      std::max<std::int64_t>((outputs - 1) * convolution.stride + convolution.kernel - size, 0);
  return {total / 2, total - total / 2};
}

/// The input and the zeros that the convolution itself puts around it.
struct Padded {
  at::Tensor x;
  std::array<std::int64_t, 2> padding{};
};

Padded pad(const Convolution& convolution, const at::Tensor& x) {
  const Zeros rows = zeros_of(convolution, x.size(2));
  const Zeros columns = zeros_of(convolution, x.size(3));
  if (rows.before == rows.behind && columns.before == columns.behind) {
    return {x, {rows.before, columns.before}};
  }
  return {at::constant_pad_nd(x, {columns.before, columns.behind, rows.before, rows.behind}), {}};
}

/// oneDNN's words for an activation.
Word attribute(Activation activation) {
  switch (activation) {
    case Activation::none:
      break;
    case Activation::relu:
      return "relu";
    case Activation::relu6:
      return "hardtanh";
  }
  return std::nullopt;
}

Scalars bounds(Activation activation) {
  Scalars scalars;
  if (activation == Activation::relu6) {
    scalars.push_back(at::Scalar(0.0));
    scalars.push_back(at::Scalar(6.0));
  }
  return scalars;
}

at::Tensor packed_forward(const Convolution& c, const at::Tensor& x, at::Tensor added) {
  static const auto convolve = find_operator<Convolve>("mkldnn::_convolution_pointwise");
  static const auto convolve_and_add =
      find_operator<ConvolveAndAdd>("mkldnn::_convolution_pointwise_", "binary");
  TORCH_CHECK(!(at::GradMode::is_enabled() && x.requires_grad()),
              "convolution: a packed weight gives no gradients; keep it plain");
  const std::array<std::int64_t, 2> stride{c.stride, c.stride}, dilation{1, 1};
  const Padded padded = pad(c, x);
  if (!added.defined()) {
    return convolve->call(padded.x, c.weight, c.bias, padded.padding, stride, dilation, c.groups,
                          attribute(c.activation).value_or("none"), bounds(c.activation),
                          std::nullopt);
  }
  // Of the activations, oneDNN's sum knows ReLU alone.
  const bool within = c.activation != Activation::relu6;
  convolve_and_add->call(added, padded.x, c.weight, c.bias, padded.padding, stride, dilation,
                         c.groups, "add", at::Scalar(1.0),
                         within ? attribute(c.activation) : std::nullopt, Scalars(), std::nullopt);
  return within ? added : at::hardtanh_(added, 0, 6);
}

at::Tensor activate(const at::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::none:
      break;
    case Activation::relu:
      return at::relu(x);
    case Activation::relu6:
      return at::hardtanh(x, 0, 6);
  }
  return x;
}

at::Tensor plain_forward(const Convolution& c, const at::Tensor& x, const at::Tensor& added) {
  const Padded padded = pad(c, x);
  at::Tensor y =
      at::conv2d(padded.x, c.weight, c.bias, c.stride, padded.padding, /*dilation=*/1, c.groups);
  if (c.norm.weight.defined()) {
    y = at::batch_norm(y, c.norm.weight, c.norm.bias, c.norm.running_mean, c.norm.running_var,
                       /*training=*/false, /*momentum=*/0, c.norm.epsilon, /*cudnn_enabled=*/true);
  }
  return activate(added.defined() ? y + added : y, c.activation);
}

/// norm(W x + b) = (s W) x + s (b - mean) + shift, s = scale / sqrt(variance + epsilon).
void fold(Convolution& c) {
  if (!c.norm.weight.defined()) return;
  // In float64, so that the folded network rounds once, as the plain one does.
  const auto exact = [](const at::Tensor& x) { return x.detach().to(at::kDouble); };
  const at::Tensor scale =
      exact(c.norm.weight) / at::sqrt(exact(c.norm.running_var) + c.norm.epsilon);
  const at::Tensor mean = exact(c.norm.running_mean);
  const at::Tensor offset = c.bias.defined() ? exact(c.bias) - mean : -mean;
  const at::ScalarType precision = c.weight.scalar_type();
  c.weight = (exact(c.weight) * scale.view({-1, 1, 1, 1})).to(precision);
  c.bias = (offset * scale + exact(c.norm.bias)).to(precision);
  c.norm = {};
}

}  // namespace

at::Tensor Convolution::forward(const at::Tensor& x, const at::Tensor& added) const {
  return weight.is_mkldnn() ? packed_forward(*this, x, added) : plain_forward(*this, x, added);
}

void Convolution::pack() {
  static const auto reorder = find_operator<Reorder>("mkldnn::_reorder_convolution_weight");
  if (weight.is_mkldnn()) return;
  fold(*this);
  weight = weight.detach().contiguous(at::MemoryFormat::ChannelsLast);
  if (!weight.is_cpu() || !reorder) return;
  const std::vector<c10::SymInt> padding(2, same_padding ? 0 : kernel / 2), strides(2, stride),
      dilation(2, 1);
  weight = reorder->call(weight, padding, strides, dilation, groups, std::nullopt);
}

}  // namespace vitascope::caption
