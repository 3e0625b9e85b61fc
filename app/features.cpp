#include "app/features.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <optional>
#include <utility>

#include "app/feature_cache.h"
#include "app/output.h"
#include "app/photo_run.h"

namespace vitascope::app {
namespace {

/// The precision of the products, whether weights are packed or not.
at::ScalarType precision_of(const weights::Model& model) {
  model::VisionTransformer network = model.network;  // shares the tensors
  return network.parameters().front().second->scalar_type();
}

/// Features by position, as they come in.
class Gathered {
 public:
  Gathered(const FrozenModel& model, const FeatureOptions& options) {
    if (options.cache.empty()) return;
    cache_.emplace(options.cache, feature_key(model.plain, precision_of(model.quick)));
    if (!cache_->note().empty()) output::warning(cache_->note());
  }

  /// Takes from the cache what it has. \return the positions of the others
  std::vector<std::size_t> look_up(const datasets::LabelledImages& images,
                                   const std::vector<std::size_t>& samples) {
    rows_.resize(samples.size());
    keys_.resize(samples.size());
    std::vector<std::size_t> missing;
    missing.reserve(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (cache_) {
        keys_[i] = photo_key(images, images.samples[samples[i]]);
        if (const auto row = cache_->find(keys_[i])) rows_[i] = row->clone();
      }
      if (!rows_[i].defined()) missing.push_back(i);
    }
    return missing;
  }

  void set(std::size_t position, const at::Tensor& features) {
    rows_[position] = features.flatten().to(at::kFloat).clone();
    if (cache_) cache_->add(keys_[position], rows_[position]);
  }

  void save() {
    if (cache_) cache_->save();
  }

  /// All rows that there are and their positions.
  std::pair<at::Tensor, std::vector<std::size_t>> all() const {
    std::vector<at::Tensor> rows;
    std::vector<std::size_t> positions;
    rows.reserve(rows_.size());
    positions.reserve(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!rows_[i].defined()) continue;
      rows.push_back(rows_[i]);
      positions.push_back(i);
    }
    return {rows.empty() ? at::empty({0, 0}) : at::stack(rows), std::move(positions)};
  }

 private:
  std::optional<FeatureCache> cache_;
  std::vector<at::Tensor> rows_;
  std::vector<std::string> keys_;
};

}  // namespace

Features features_of(const FrozenModel& model,
                     const std::shared_ptr<const datasets::LabelledImages>& images,
                     const std::vector<std::size_t>& samples, const FeatureOptions& options) {
  Gathered gathered(model, options);
  const std::vector<std::size_t> missing = gathered.look_up(*images, samples);
  std::vector<std::size_t> wanted;
  wanted.reserve(missing.size());
  for (const std::size_t position : missing) wanted.push_back(samples[position]);
  RunReport report;
  const auto use = [&](const PhotoResult& result) {
    gathered.set(missing[result.photo.index], result.output.features);
  };
  try {
    report = run_photos(model.quick, {images, wanted}, options.run, options.photos, 0, {use});
  } catch (...) {
    gathered.save();
    throw;
  }
  gathered.save();
  auto [values, positions] = gathered.all();
  return {std::move(values), std::move(positions), report.done, report.failed, report.interrupted};
}

}  // namespace vitascope::app
