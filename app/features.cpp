#include "app/features.h"

#include <ATen/ATen.h>

#include <utility>

#include "app/cached_features.h"
#include "app/photo_run.h"

namespace vitascope::app {
namespace {

/// The precision of the products, whether weights are packed or not.
at::ScalarType precision_of(const weights::Model& model) {
  model::VisionTransformer network = model.network;  // shares the tensors
  return network.parameters().front().second->scalar_type();
}

}  // namespace

Features features_of(const FrozenModel& model,
                     const std::shared_ptr<const datasets::LabelledImages>& images,
                     const std::vector<std::size_t>& samples, const FeatureOptions& options) {
  CachedFeatures gathered(options.cache, options.cache.empty()
                                             ? ""
                                             : feature_key(model.plain, precision_of(model.quick)));
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
