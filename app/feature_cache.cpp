#include "app/feature_cache.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "datasets/duplicates.h"
#include "vit/error.h"
#include "vit/json.h"
#include "vit/text.h"
#include "vit/weights/safetensors.h"

namespace vitascope::app {
namespace {

namespace fs = std::filesystem;

std::string checksum(Bytes bytes) {
  return fmt::format("{:08x}", datasets::fingerprint(bytes).crc);
}

/// All of a configuration that features depend on and that does not show in the parameters' shapes.
std::string configuration_key(const model::Config& config) {
  return fmt::format(
      "heads {}, patch {}, grid {}x{} of {}x{}, interpolation {}, activation {}, "
      "epsilon {}, pooling {}",
      config.heads, config.patch, config.position_grid.rows, config.position_grid.columns,
      config.native_grid.rows, config.native_grid.columns, static_cast<int>(config.interpolation),
      static_cast<int>(config.activation), config.norm_epsilon, static_cast<int>(config.pooling));
}

}  // namespace

std::string specification_key(const image::Specification& specification) {
  return fmt::format("{}, {}, {}, {} {} {}, {} {} {}", image::describe(specification),
                     static_cast<int>(specification.crop_offset), specification.rescale_factor,
                     specification.mean[0], specification.mean[1], specification.mean[2],
                     specification.std[0], specification.std[1], specification.std[2]);
}

std::string feature_key(const weights::Model& model, at::ScalarType precision) {
  model::VisionTransformer network = model.network;  // shares the tensors
  std::string sums;
  for (const auto& [name, slot] : network.parameters()) {
    if (name.starts_with("head")) continue;
    const at::Tensor tensor = slot->cpu().contiguous();
    sums += name;
    sums += checksum({static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()});
  }
  const std::string weights = checksum(std::as_bytes(std::span(sums)));
  return fmt::format("weights {}, {}; {}; {}", weights, c10::toString(precision),
                     configuration_key(model.network.config()),
                     model.specification ? specification_key(*model.specification) : std::string());
}

std::string photo_key(const datasets::LabelledImages& images, const datasets::Sample& sample) {
  if (sample.stored) {
    const datasets::Fingerprint pixels = datasets::fingerprint(images, sample);
    return fmt::format("{}, {} bytes, {:08x}", sample.path, pixels.length, pixels.crc);
  }
  std::error_code error;
  const std::uintmax_t size = fs::file_size(sample.path, error);
  if (error) return "";
  const fs::file_time_type time = fs::last_write_time(sample.path, error);
  if (error) return "";
  return fmt::format("{}, {} bytes, {}", fs::absolute(sample.path, error).string(), size,
                     time.time_since_epoch().count());
}

FeatureCache::FeatureCache(std::string path, std::string key)
    : path_(std::move(path)), key_(std::move(key)) {
  if (!fs::exists(path_)) return;
  try {
    read();
  } catch (const std::exception& error) {
    note_ = fmt::format("{}: features are computed anew: {}", printable(path_), error.what());
    rows_ = SavedRows("features");
    photos_.clear();
    index_.clear();
  }
}

/// \throws std::exception that says what is wrong
void FeatureCache::read() {
  const weights::StoredTensors stored = weights::read_safetensors(path_);
  const auto& metadata = stored.metadata;
  const auto features = stored.tensors.find("features");
  if (features == stored.tensors.end() || !metadata.contains("feature_key") ||
      !metadata.contains("checksum") || !metadata.contains("photos")) {
    throw std::runtime_error("the file holds no features of photos");
  }
  if (metadata.at("feature_key") != key_) {
    throw std::runtime_error("they are those of another model or of other preprocessing");
  }
  const weights::StoredTensor& tensor = features->second;
  if (tensor.dtype != weights::DType::f32 || tensor.shape.size() != 2 ||
      checksum(tensor.bytes) != metadata.at("checksum")) {
    throw std::runtime_error("the file is damaged");
  }
  const auto photos = parse_json(metadata.at("photos"), path_).get<std::vector<std::string>>();
  if (std::ssize(photos) != tensor.shape[0]) throw std::runtime_error("the file is damaged");
  const at::Tensor rows =
      at::from_blob(const_cast<std::byte*>(tensor.bytes.data()), tensor.shape, at::kFloat);
  for (std::size_t i = 0; i < photos.size(); ++i)
    add(photos[i], rows[static_cast<std::int64_t>(i)]);
  changed_ = false;
}

std::optional<at::Tensor> FeatureCache::find(const std::string& photo) const {
  const auto found = index_.find(photo);
  if (photo.empty() || found == index_.end()) return std::nullopt;
  const std::span<const float> row = rows_.row(found->second);
  return at::from_blob(const_cast<float*>(row.data()), {std::ssize(row)}, at::kFloat);
}

void FeatureCache::add(const std::string& photo, const at::Tensor& row) {
  if (photo.empty() || !index_.emplace(photo, photos_.size()).second) return;
  rows_.add(row, photo);
  photos_.push_back(photo);
  changed_ = true;
}

void FeatureCache::save() {
  if (!changed_) return;
  const weights::TensorToWrite tensor = rows_.tensor();
  const Json photos = photos_;
  weights::write_safetensors(
      path_, {tensor},
      {{"feature_key", key_},
       {"checksum", checksum(tensor.bytes)},
       {"photos", photos.dump(-1, ' ', false, Json::error_handler_t::replace)}},
      /*force=*/true);
  changed_ = false;
}

}  // namespace vitascope::app
