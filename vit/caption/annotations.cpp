#include "vit/caption/annotations.h"

#include <ATen/ATen.h>

namespace vitascope::caption {
namespace {

/// `count` numbers from -1 to 1; of one place 0, its middle.
at::Tensor steps(std::int64_t count, const at::TensorOptions& options) {
  return count > 1 ? at::linspace(-1, 1, count, options) : at::zeros({1}, options);
}

}  // namespace

Annotations with_coordinates(const Annotations& annotations) {
  const at::Tensor& values = annotations.values;
  const at::Tensor rows = steps(annotations.rows, values.options()).unsqueeze(1);
  const at::Tensor columns = steps(annotations.columns, values.options());
  const at::Tensor places =
      at::stack({rows.expand({-1, annotations.columns}), columns.expand({annotations.rows, -1})},
                -1)
          .view({1, -1, kCoordinates})
          .expand({values.size(0), -1, -1});
  Annotations located = annotations;
  located.values = at::cat({values, places}, -1);
  return located;
}

}  // namespace vitascope::caption
