#include "vit/model/recompute.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <memory>
#include <utility>

#include "vit/model/trace.h"

namespace vitascope::model {
namespace {

using torch::autograd::variable_list;

/// The place of f in autograd's graph.
struct Recomputed : torch::autograd::Node {
  at::Tensor x;
  std::function<at::Tensor(const at::Tensor&)> f;

  variable_list apply(variable_list&& gradients) override {
    const at::Tensor again = x.detach().requires_grad_();
    const c10::AutoGradMode with_gradients(true);
    torch::autograd::backward({f(again)}, {gradients.at(0)});
    return {again.grad()};
  }

  void release_variables() override {
    x.reset();
    f = nullptr;
  }
};

}  // namespace

at::Tensor recomputed(const at::Tensor& x, const std::function<at::Tensor(const at::Tensor&)>& f) {
  const auto node = std::shared_ptr<Recomputed>(new Recomputed, torch::autograd::deleteNode);
  // Parameters inside f may learn though nothing before x does: the node must be reached all the
  // same.
  const at::Tensor input = graph_node(x);
  node->x = input.detach();
  node->f = f;
  node->set_next_edges(torch::autograd::collect_next_edges(input));
  at::Tensor y;
  {
    const at::NoGradGuard without_gradients;
    y = f(node->x);
  }
  torch::autograd::set_history(y, node);
  return y;
}

}  // namespace vitascope::model
