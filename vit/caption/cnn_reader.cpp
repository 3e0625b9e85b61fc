#include "vit/caption/cnn_reader.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

#include "vit/caption/cnn_families.h"
#include "vit/error.h"
#include "vit/image/specification_reader.h"
#include "vit/text.h"
#include "vit/weights/tensor_assembly.h"

namespace vitascope::caption {
namespace {

using weights::StoredTensors;
using Shape = std::vector<std::int64_t>;

/// Takes tensors out of a file one by one, each of the shape that its place asks for.
class Taking {
 public:
  Taking(const StoredTensors& tensors, const std::string& path, const std::string& network)
      : tensors_(tensors), path_(path), network_(network) {}

  /// Shape of a tensor.
  const Shape& shape(const std::string& name) const {
    const auto found = tensors_.tensors.find(name);
    if (found == tensors_.tensors.end()) {
      throw InputError(path_, fmt::format("has no tensor '{}', which {} needs: is it the whole "
                                          "state dict?",
                                          name, network_));
    }
    return found->second.shape;
  }

  at::Tensor take(const std::string& name, const Shape& expected) {
    if (shape(name) != expected) {
      throw InputError(path_,
                       fmt::format("'{}' is {}: expected {}, as the rest of {} asks for", name,
                                   shape_text(shape(name)), shape_text(expected), network_));
    }
    taken_.insert(name);
    return weights::view_of(tensors_.tensors.at(name)).to(at::kFloat).contiguous();
  }

  /// \throws InputError when the file holds what neither this network nor a head has
  void expect_all_taken() const {
    for (const auto& [name, stored] : tensors_.tensors) {
      if (taken_.contains(name) || is_known_unused(name)) continue;
      throw InputError(path_, fmt::format("has a tensor '{}', which {} does not have: another "
                                          "network of like names?",
                                          printable(name), network_));
    }
  }

 private:
  static bool is_known_unused(const std::string& name) {
    constexpr std::array kHeads{"fc.", "_fc.", "classifier."};
    return name.ends_with(".num_batches_tracked") ||
           std::ranges::any_of(kHeads, [&](const char* head) { return name.starts_with(head); });
  }

  const StoredTensors& tensors_;
  const std::string& path_;
  const std::string& network_;
  std::set<std::string> taken_;
};

/// Fills a convolution that reads `inputs` channels. \return the channels that it gives
std::int64_t fill(Convolution& c, std::int64_t inputs, Taking& taking) {
  const std::string weight = fmt::format("{}.weight", c.name);
  const Shape& shape = taking.shape(weight);
  const std::int64_t outputs = shape.empty() ? 0 : shape[0];
  c.weight = taking.take(
      weight, {outputs, inputs / std::max<std::int64_t>(c.groups, 1), c.kernel, c.kernel});
  if (c.biased) c.bias = taking.take(fmt::format("{}.bias", c.name), {outputs});
  if (c.norm_name.empty()) return outputs;
  const auto norm = [&](const char* what) {
    return taking.take(fmt::format("{}.{}", c.norm_name, what), {outputs});
  };
  c.norm.weight = norm("weight");
  c.norm.bias = norm("bias");
  c.norm.running_mean = norm("running_mean");
  c.norm.running_var = norm("running_var");
  return outputs;
}

void fill(Cnn& network, const StoredTensors& tensors, const std::string& path) {
  Taking taking(tensors, path, network.name);
  std::int64_t channels = 3;
  for (CnnBlock& block : network.blocks) {
    const std::int64_t inputs = channels;
    for (Convolution& convolution : block.convolutions) {
      channels = fill(convolution, channels, taking);
    }
    if (!block.residual) continue;
    const std::int64_t added = block.shortcut ? fill(*block.shortcut, inputs, taking) : inputs;
    if (added == channels) continue;
    throw InputError(path,
                     fmt::format("'{}.weight' gives {} channels, to which {} are added: "
                                 "expected as many in {}",
                                 block.convolutions.back().name, channels, added, network.name));
  }
  taking.expect_all_taken();
}

/// How the family's published weights saw their pictures, in timm's words.
image::Specification specification_of(const std::string& name) {
  const bool lite = name.starts_with("efficientnet_lite");
  const Json imagenet_mean = {0.485, 0.456, 0.406}, imagenet_std = {0.229, 0.224, 0.225};
  const Json half = {0.5, 0.5, 0.5};
  const Json words = {{"input_size", {3, 224, 224}},
                      {"crop_pct", 0.875},
                      {"interpolation", lite ? "bicubic" : "bilinear"},
                      {"mean", lite ? half : imagenet_mean},
                      {"std", lite ? half : imagenet_std}};
  const std::string source = fmt::format("implied by {}: as {} prepares its pictures", name,
                                         lite ? "timm's tf_efficientnet_lite0" : "torchvision");
  image::Specification specification = image::specification_from_timm(words, source);
  specification.source = source;
  return specification;
}

}  // namespace

std::optional<Cnn> read_cnn(const StoredTensors& tensors, const std::string& path) {
  for (const auto family : {vgg_of, resnet_of, efficientnet_lite_of}) {
    std::optional<Cnn> network;
    try {
      network = family(tensors);
    } catch (const std::invalid_argument& error) {
      throw InputError(path, error.what());
    }
    if (!network) continue;
    fill(*network, tensors, path);
    network->specification = specification_of(network->name);
    return network;
  }
  return std::nullopt;
}

}  // namespace vitascope::caption
