#include "vit/explain/importance.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/autograd.h>

#include "vit/explain/perturbation.h"

namespace vitascope::explain {

at::Tensor gradient_importance(const model::VisionTransformer& network, const at::Tensor& pixels,
                               std::int64_t of_class, kernels::Backend backend) {
  const c10::InferenceMode off(false);
  const c10::AutoGradMode recorded(true);
  const at::Tensor x = pixels.clone().requires_grad_(true);
  const at::Tensor logit = network.forward(x, {.backend = backend}).logits[0][of_class];
  const at::Tensor slope = torch::autograd::grad({logit}, {x})[0];
  const at::Tensor parts = (x.detach() * slope).sum(1).to(at::kCPU, at::kDouble);  // [1, H, W]
  const model::Grid grid = model::patch_grid(network.config(), pixels.size(2), pixels.size(3));
  const auto pixels_in_cell = static_cast<double>(parts.numel()) / grid.count();
  return (cell_means(parts, grid.rows, grid.columns)[0] * pixels_in_cell).abs();
}

at::Tensor leave_one_out(const Scores& probabilities, const at::Tensor& pixels,
                         const at::Tensor& baseline, std::int64_t rows, std::int64_t columns,
                         const Batching& batching) {
  at::Tensor moved = at::zeros({rows * columns}, at::kDouble);
  at::Tensor whole;  // the first picture is the photo itself
  const auto picture = [&](std::int64_t index) {
    if (index == 0) return pixels;
    at::Tensor without = pixels.clone();
    cell_pixels(without, index - 1, rows, columns)
        .copy_(cell_pixels(baseline, index - 1, rows, columns));
    return without;
  };
  const auto take = [&](std::int64_t first, const at::Tensor& answers) {
    if (first == 0) whole = answers[0];
    const at::Tensor distances = (answers - whole).abs().sum(1) / 2;
    const std::int64_t skipped = first == 0 ? 1 : 0;
    moved.narrow(0, first + skipped - 1, answers.size(0) - skipped)
        .copy_(distances.slice(0, skipped));
  };
  score_in_batches(probabilities, rows * columns + 1, picture, batching, take);
  return moved.view({rows, columns});
}

}  // namespace vitascope::explain
