#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "vit/error.h"
#include "vit/text.h"
#include "vit/weights/config_reader.h"
#include "vit/weights/key_map.h"

namespace vitascope::weights {
namespace {

/// Shapes by canonical name.
class Shapes {
 public:
  Shapes(const StoredTensors& tensors, const std::string& path)
      : tensors_(tensors), names_(canonical_names(tensors, KeyStyle::augreg, path)), path_(path) {}

  bool has(const std::string& name) const { return names_.contains(name); }

  /// Sizes of a tensor that must be there with that many dimensions; each between 1 and 2^20.
  std::vector<int> at(const std::string& name, std::size_t dimensions) const {
    const auto found = names_.find(name);
    if (found == names_.end()) {
      throw InputError(path_, fmt::format("holds no '{}': expected a vision transformer of the "
                                          "AugReg collection",
                                          name));
    }
    const std::vector<std::int64_t>& shape = tensors_.tensors.at(found->second).shape;
    std::vector<int> sizes;
    for (const std::int64_t size : shape) {
      if (size >= 1 && size <= (1 << 20)) sizes.push_back(static_cast<int>(size));
    }
    if (sizes.size() != shape.size() || sizes.size() != dimensions) {
      throw InputError(path_, fmt::format("'{}' is {}: expected {} dimensions", name,
                                          shape_text(shape), dimensions));
    }
    return sizes;
  }

 private:
  const StoredTensors& tensors_;
  std::map<std::string, std::string> names_;
  const std::string& path_;
};

}  // namespace

Description describe_npz(const StoredTensors& tensors, const std::string& path) {
  const Shapes shapes(tensors, path);
  Description description;
  description.imagenet = true;  // the collection was trained on ImageNet-21k and ImageNet-1k
  model::Config& config = description.config;
  config.interpolation = model::PositionInterpolation::bicubic_antialias;

  const auto patches = shapes.at("embedding/kernel", 4);
  if (patches[0] != patches[1]) {
    throw InputError(path, fmt::format("'embedding/kernel' has patches of {} x {}: expected a "
                                       "square",
                                       patches[0], patches[1]));
  }
  config.patch = patches[0];
  config.channels = patches[2];
  config.width = patches[3];
  const std::string block = "Transformer/encoderblock_0/";
  config.heads = shapes.at(block + "MultiHeadDotProductAttention_1/query/kernel", 3)[1];
  config.mlp_width = shapes.at(block + "MlpBlock_3/Dense_0/kernel", 2)[1];
  config.depth = 0;
  while (shapes.has(fmt::format("Transformer/encoderblock_{}/LayerNorm_0/scale", config.depth))) {
    ++config.depth;
  }
  shapes.at("cls", 3);
  const int positions = shapes.at("Transformer/posembed_input/pos_embedding", 3)[1];
  const int side = static_cast<int>(std::lround(std::sqrt(positions - 1)));
  if (side * side != positions - 1) {
    throw InputError(path, fmt::format("'Transformer/posembed_input/pos_embedding' has {} "
                                       "positions: expected one and a square grid",
                                       positions));
  }
  config.position_grid = config.native_grid = {side, side};
  config.classes = shapes.has("head/kernel") ? shapes.at("head/kernel", 2)[1] : 0;
  config.head_bias = shapes.has("head/bias");
  try {
    model::validate(config);
  } catch (const std::invalid_argument& error) {
    throw InputError(path, error.what());
  }
  return description;
}

}  // namespace vitascope::weights
