#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vit/caption/convolution.h"
#include "vit/image/specification.h"

/// \file
/// Convolutional networks up to their last grid of features: VGG (Simonyan and Zisserman 2015,
/// arXiv:1409.1556), ResNet (He et al. 2016, arXiv:1512.03385) and EfficientNet-Lite (Tan and Le
/// 2019, arXiv:1905.11946, without squeeze-and-excitation).
namespace vitascope::caption {

/// Convolutions one after the other, with what may surround them.
struct CnnBlock {
  std::int64_t pool = 0;  ///< edge of a max-pool of stride 2 before them; 0: there is none
  std::vector<Convolution> convolutions{};
  bool residual = false;                  ///< their input is added to the last
  std::optional<Convolution> shortcut{};  ///< which the input goes through before
  std::int64_t stride() const;            ///< of all together
};

/// The network. A value: copies share their parameters, as tensors do.
struct Cnn {
  std::string name;  ///< torchvision's: "vgg19_bn", "resnet50"; or "efficientnet_lite0"
  std::vector<CnnBlock> blocks{};
  image::Specification specification{};  ///< how its pictures were prepared in training

  std::int64_t channels() const;  ///< of the features
  std::int64_t stride() const;    ///< pixels to a cell of their grid, in both directions

  /// \param pixels float32 [B, 3, H, W]
  /// \return [B, channels, ceil(H / stride), ceil(W / stride)], channels last; VGG: floor
  at::Tensor forward(const at::Tensor& pixels) const;

  /// Name and slot of what can learn, by the names of the file that it came from. Not for a packed
  /// network.
  std::vector<std::pair<std::string, at::Tensor*>> parameters();
  /// The same of what batch norm knows of the training data: to be saved with the parameters.
  std::vector<std::pair<std::string, at::Tensor*>> statistics();

  /// Leaves away the blocks behind the last grid of this stride: finer, of fewer channels.
  /// \throws std::invalid_argument naming the strides that there are
  void cut(std::int64_t stride);

  /// \see Convolution::pack
  void pack();
};

}  // namespace vitascope::caption
