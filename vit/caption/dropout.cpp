#include "vit/caption/dropout.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>

namespace vitascope::caption {

at::Tensor Dropout::operator()(const at::Tensor& x) const {
  if (rate <= 0) return x;
  // One number of ours seeds LibTorch's generator, which draws the many quicker.
  const auto seed = static_cast<std::uint64_t>(std::ldexp(random->uniform(), 53));
  const at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  const at::Tensor kept = at::empty(x.sizes(), x.options().device(at::kCPU).requires_grad(false))
                              .bernoulli_(1 - rate, generator)
                              .div_(1 - rate);
  return x * kept.to(x.device());
}

}  // namespace vitascope::caption
