#include "vit/explain/map.h"

namespace vitascope::explain {

template <typename Number>
std::vector<Number> numbers(const at::Tensor& tensor) {
  const at::Tensor plain =
      tensor.detach().to(at::kCPU, c10::CppTypeToScalarType<Number>::value).contiguous();
  const auto* first = plain.const_data_ptr<Number>();
  return {first, first + plain.numel()};
}

template std::vector<float> numbers(const at::Tensor&);
template std::vector<double> numbers(const at::Tensor&);

at::Tensor min_max(const at::Tensor& values) {
  const at::Tensor low = values.min();
  const at::Tensor range = values.max() - low;
  return range.item<double>() > 0 ? (values - low) / range : at::zeros_like(values);
}

}  // namespace vitascope::explain
