#include "vit/caption/cnn.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace vitascope::caption {
namespace {

/// Every convolution in the order of the network.
std::vector<Convolution*> convolutions_of(Cnn& network) {
  std::vector<Convolution*> all;
  for (CnnBlock& block : network.blocks) {
    for (Convolution& convolution : block.convolutions) all.push_back(&convolution);
    if (block.shortcut) all.push_back(&*block.shortcut);
  }
  return all;
}

at::Tensor through(at::Tensor x, const CnnBlock& block) {
  if (block.pool > 0) x = at::max_pool2d(x, block.pool, /*stride=*/2, (block.pool - 1) / 2);
  at::Tensor added;
  if (block.residual) added = block.shortcut ? block.shortcut->forward(x) : x;
  const Convolution& last = block.convolutions.back();
  for (const Convolution& convolution : block.convolutions) {
    // Where weights are packed the sum replaces `added`, which nobody reads after this.
    x = convolution.forward(x, &convolution == &last ? added : at::Tensor());
  }
  return x;
}

}  // namespace

std::int64_t CnnBlock::stride() const {
  std::int64_t product = pool > 0 ? 2 : 1;
  for (const Convolution& convolution : convolutions) product *= convolution.stride;
  return product;
}

std::int64_t Cnn::channels() const { return blocks.back().convolutions.back().weight.size(0); }

std::int64_t Cnn::stride() const {
  std::int64_t product = 1;
  for (const CnnBlock& block : blocks) product *= block.stride();
  return product;
}

at::Tensor Cnn::forward(const at::Tensor& pixels) const {
  // Channels last is quicker. Not where weights learn: there oneDNN's gradient of a 1 x 1 weight is
  // wrong on AVX2 with two threads when channels are no multiple of eight.
  at::Tensor x = at::GradMode::is_enabled() ? pixels.contiguous()
                                            : pixels.contiguous(at::MemoryFormat::ChannelsLast);
  for (const CnnBlock& block : blocks) x = through(x, block);
  return x;
}

std::vector<std::pair<std::string, at::Tensor*>> Cnn::parameters() {
  std::vector<std::pair<std::string, at::Tensor*>> list;
  for (Convolution* c : convolutions_of(*this)) {
    list.emplace_back(fmt::format("{}.weight", c->name), &c->weight);
    if (c->biased) list.emplace_back(fmt::format("{}.bias", c->name), &c->bias);
    if (c->norm_name.empty()) continue;
    list.emplace_back(fmt::format("{}.weight", c->norm_name), &c->norm.weight);
    list.emplace_back(fmt::format("{}.bias", c->norm_name), &c->norm.bias);
  }
  return list;
}

std::vector<std::pair<std::string, at::Tensor*>> Cnn::statistics() {
  std::vector<std::pair<std::string, at::Tensor*>> list;
  for (Convolution* c : convolutions_of(*this)) {
    if (c->norm_name.empty()) continue;
    list.emplace_back(fmt::format("{}.running_mean", c->norm_name), &c->norm.running_mean);
    list.emplace_back(fmt::format("{}.running_var", c->norm_name), &c->norm.running_var);
  }
  return list;
}

void Cnn::cut(std::int64_t wanted) {
  std::vector<std::int64_t> strides;
  std::size_t kept = 0;
  std::int64_t reached = 1;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    reached *= blocks[i].stride();
    if (reached == wanted) kept = i + 1;
    if (strides.empty() || strides.back() != reached) strides.push_back(reached);
  }
  if (kept == 0) {
    throw std::invalid_argument(fmt::format("{} has no grid of {} pixels to a cell: expected {}",
                                            name, wanted, fmt::join(strides, ", ")));
  }
  blocks.resize(kept);
}

void Cnn::pack() {
  for (Convolution* convolution : convolutions_of(*this)) convolution->pack();
}

}  // namespace vitascope::caption
