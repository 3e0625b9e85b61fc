#include "vit/caption/positions.h"

#include <ATen/ATen.h>

namespace vitascope::caption {

at::Tensor sinusoidal_positions(const Positions& positions, std::int64_t width) {
  const at::Tensor exponents = at::arange(0, width, 2, at::kDouble) / static_cast<double>(width);
  const at::Tensor places =
      at::arange(positions.first, positions.first + positions.count, at::kDouble);
  const at::Tensor angles = at::outer(places, at::pow(10000.0, -exponents));
  return at::stack({angles.sin(), angles.cos()}, -1).flatten(1).narrow(1, 0, width).to(at::kFloat);
}

}  // namespace vitascope::caption
