#include "vit/model/sincos_positions.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <stdexcept>

namespace vitascope::model {
namespace {

/// [positions] -> [positions, 2 * frequencies]
at::Tensor waves(const at::Tensor& positions, int frequencies) {
  const at::Tensor exponents =
      at::arange(frequencies, at::kDouble) / static_cast<double>(frequencies);
  const at::Tensor angles = at::outer(positions, at::pow(10000.0, -exponents));
  return at::cat({at::sin(angles), at::cos(angles)}, 1);
}

}  // namespace

at::Tensor sincos_positions(int width, Grid grid, int prefix) {
  if (width % 4 != 0) {
    throw std::invalid_argument(fmt::format(
        "width is {}: expected a multiple of 4 for sine-cosine position embeddings", width));
  }
  const at::Tensor columns = at::arange(grid.columns, at::kDouble).repeat({grid.rows});
  const at::Tensor rows = at::arange(grid.rows, at::kDouble).repeat_interleave(grid.columns);
  const at::Tensor patches = at::cat({waves(columns, width / 4), waves(rows, width / 4)}, 1);
  return at::cat({at::zeros({prefix, width}, at::kDouble), patches}, 0).unsqueeze(0).to(at::kFloat);
}

}  // namespace vitascope::model
