#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "vit/caption/annotations.h"
#include "vit/caption/cnn.h"
#include "vit/image/specification.h"
#include "vit/model/vision_transformer.h"

/// \file
/// Photos -> what a decoder looks at.
namespace vitascope::caption {

/// A CNN's last grid of features, or a vision transformer's patch tokens after its final norm. A
/// value: copies share their parameters.
class Encoder {
 public:
  using Network = std::variant<Cnn, model::VisionTransformer>;

  Encoder(std::string name, Network network, image::Specification specification);

  /// What it is: "resnet50", "vit".
  const std::string& name() const { return name_; }
  /// How it wants its photos. The cells of its grid share what the network sees evenly:
  /// image::View::cell(row, column, rows, columns) of a prepared photo is where each lies.
  const image::Specification& specification() const { return specification_; }
  Network& network() { return network_; }

  std::int64_t channels() const;  ///< D of the annotations
  std::int64_t stride() const;    ///< pixels of the input to a cell, in both directions

  /// Gradients flow to the parameters unless the network is packed.
  /// \param pixels float32 [B, 3, H, W] as specification() prepares them, or of another size
  /// \throws std::invalid_argument when H or W is not a positive multiple of stride()
  Annotations annotate(const at::Tensor& pixels) const;

  /// Name and slot of what can learn. Not for a packed network.
  std::vector<std::pair<std::string, at::Tensor*>> parameters();

  std::vector<std::string> files{};  ///< that it was read from
  std::vector<std::string> notes{};  ///< decisions worth saying

 private:
  std::string name_;
  Network network_;
  image::Specification specification_;
};

/// How an encoder is opened.
struct EncoderOptions {
  bool pack = true;                         ///< for answers alone: quicker, but it can't learn
  std::optional<image::Size> input_size{};  ///< another than its own
  bool whole_photo = false;                 ///< pressed into the input, \see image::without_crop
  std::int64_t stride = 0;  ///< of a CNN: pixels to a cell, \see Cnn::cut; 0: as it comes
};

/// Opens a weight file or a folder: a CNN that read_cnn knows, prepared as its family does or as
/// timm's config.json beside it says, or any vision transformer that weights::open_model opens.
/// \throws InputError: neither, with what was found; no specification; several weight files of
/// CNNs;
///         UsageError: an input size or a stride that doesn't fit
Encoder open_encoder(const std::string& path, const EncoderOptions& options = {});

}  // namespace vitascope::caption
