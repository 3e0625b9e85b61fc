#include "vit/explain/layer.h"

#include <fmt/format.h>

#include <stdexcept>

namespace vitascope::explain {
namespace {

at::Tensor of_picture(const at::Tensor& tensor, std::int64_t picture) {
  return tensor.defined() ? tensor.detach().narrow(0, picture, 1) : tensor;
}

at::Tensor of_head(const at::Tensor& tensor, std::int64_t head) {
  return tensor.defined() ? tensor.narrow(1, head, 1) : tensor;
}

}  // namespace

int depth(const Recorded& recorded) { return static_cast<int>(recorded.trace.queries.size()); }

at::Tensor on_grid(const Recorded& recorded, const at::Tensor& row) {
  return row.flatten()
      .slice(0, recorded.prefix)
      .reshape({recorded.grid.rows, recorded.grid.columns})
      .to(at::kCPU);
}

Layer::Layer(const Recorded& recorded, int layer, std::int64_t picture)
    : layer_(static_cast<std::size_t>(layer)), picture_(picture) {
  if (layer < 0 || layer >= depth(recorded)) {
    throw std::invalid_argument(
        fmt::format("there is no layer {}: expected 0 to {}", layer, depth(recorded) - 1));
  }
  const model::Trace& trace = recorded.trace;
  if (picture < 0 || picture >= trace.queries[layer_].size(0)) {
    throw std::invalid_argument(fmt::format("there is no picture {} in the batch", picture));
  }
  q_ = of_picture(trace.queries[layer_], picture);
  k_ = of_picture(trace.keys[layer_], picture);
  lse_ = of_picture(trace.lse[layer_], picture);
  if (!trace.values.empty()) v_ = of_picture(trace.values[layer_], picture);
}

at::Tensor Layer::probabilities(int head, const at::Tensor& rows) const {
  return kernels::attention_map(of_head(q_, head), of_head(k_, head), of_head(lse_, head), {},
                                {.rows = rows})[0][0];
}

at::Tensor Layer::mean_probabilities(const at::Tensor& rows) const {
  return kernels::attention_map(q_, k_, lse_, {}, {.rows = rows, .head_mean = true})[0][0];
}

at::Tensor Layer::gradient(int head, const std::vector<at::Tensor>& output_gradients) const {
  if (output_gradients.size() <= layer_ || !v_.defined()) {
    throw std::invalid_argument("no gradients were taken");
  }
  const std::int64_t width = q_.size(3);
  const at::Tensor dout =
      output_gradients[layer_].narrow(0, picture_, 1).narrow(2, head * width, width);
  return kernels::attention_map_gradient(of_head(q_, head), of_head(k_, head), of_head(v_, head),
                                         dout)[0][0];
}

}  // namespace vitascope::explain
