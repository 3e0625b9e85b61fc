#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

/// \file
/// Less memory for more time: a part of the network that is computed again in the backward pass.
namespace vitascope::model {

/// f(x), of which autograd keeps x alone. The backward pass computes f again, with gradients, and
/// adds those of the parameters that f uses to theirs: f must give the same again, and what it
/// refers to must live until then.
at::Tensor recomputed(const at::Tensor& x, const std::function<at::Tensor(const at::Tensor&)>& f);

}  // namespace vitascope::model
