#include "vit/explain/audit.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <utility>

#include "vit/explain/answers.h"
#include "vit/explain/importance.h"
#include "vit/explain/random_map.h"
#include "vit/explain/statistics.h"

namespace vitascope::explain {
namespace {

/// The class that curves follow: the map's own, else the predicted one.
std::optional<std::int64_t> followed_class(const AuditedPhoto& photo, const Map& map) {
  if (map.class_index) return map.class_index;
  return photo.likeliest.empty() ? std::nullopt : std::optional(photo.likeliest.front());
}

}  // namespace

Auditor::Auditor(const model::VisionTransformer& network, Scores probabilities,
                 image::Specification specification, const AuditOptions& options,
                 kernels::Backend backend, std::int64_t batch_size, Progress progress)
    : network_(network),
      probabilities_(std::move(probabilities)),
      specification_(std::move(specification)),
      options_(options),
      backend_(backend),
      batch_size_(batch_size),
      progress_(std::move(progress)) {
  if (options.parts.model) forgetful_ = cascade(network, options.seed);
}

void Auditor::report(const std::string& what, std::int64_t done, std::int64_t all) const {
  if (progress_) progress_(what, done, all);
}

Batching Auditor::batching(const std::string& what) const {
  return {batch_size_,
          [this, what](std::int64_t done, std::int64_t all) { report(what, done, all); }};
}

MapAudit Auditor::audit_values(const AuditedPhoto& photo, const at::Tensor& empty, const Map& map,
                               std::optional<std::int64_t> of_class) const {
  MapAudit found;
  found.of_class = of_class;
  if (options_.parts.faithfulness && of_class) {
    found.faithfulness =
        faithfulness(probabilities_, photo.pixels, empty, map.values, {*of_class, options_.steps},
                     batching(map.method + " on trial"));
  }
  if (photo.object.defined()) found.pointing = pointing(map.values, photo.view, photo.object);
  return found;
}

void Auditor::audit_dependence(const AuditedPhoto& photo, const AuditedMap& audited,
                               MapAudit& found) const {
  if (audited.method->read == nullptr) return;
  const auto map_by = [&](const model::VisionTransformer& network, std::int64_t of_class) {
    return map_of(*audited.method, network, photo.pixels, of_class, audited.options, backend_);
  };
  const std::int64_t own = found.of_class.value_or(0);  // a map without class reads none
  std::int64_t done = 0;
  const auto all = static_cast<std::int64_t>(forgetful_.size());
  found.cascade = cascade_correlations(
      forgetful_, audited.map.values, [&](const model::VisionTransformer& network) {
        report(std::string(audited.method->name) + " of shuffled weights", ++done, all);
        return map_by(network, own);
      });
  if (!audited.method->needs_class()) return;
  for (const std::int64_t other : photo.likeliest) {
    if (other == own) continue;
    found.other_class = map_correlation(audited.map.values, map_by(network_, other).values);
    return;
  }
}

WeightsAudit Auditor::audit_weights(const AuditedPhoto& photo, const at::Tensor& empty,
                                    model::Grid grid) const {
  const c10::AutoGradMode off(false);
  const LastAttention last = last_attention(network_, photo.pixels, backend_);
  WeightsAudit found;
  found.layer = last.layer;
  report("attention weights on trial", 0, 1);
  found.permutations =
      permutation_audit(last.answer, last.weights,
                        shuffles(last.weights.size(-1), options_.permutations, options_.seed));
  found.uniform = uniform_distance(last.answer, last.weights);
  AdversaryOptions adversary = options_.adversary;
  adversary.seed = options_.seed;
  found.adversary = adversarial_weights(last.answer, last.weights, adversary);
  report("attention weights on trial", 1, 1);

  const int prefix = network_.config().prefix_tokens();
  const auto attention = numbers<double>(last.weights.flatten(0, 1).mean(0).slice(0, prefix));
  found.tau_gradient =
      kendall_tau(attention, numbers<double>(gradient_importance(
                                 network_, photo.pixels, photo.likeliest.front(), backend_)));
  found.tau_leave_one_out = kendall_tau(
      attention, numbers<double>(leave_one_out(probabilities_, photo.pixels, empty, grid.rows,
                                               grid.columns, batching("each patch left out"))));
  return found;
}

PhotoAudit Auditor::audit(const AuditedPhoto& photo, const std::vector<AuditedMap>& maps) const {
  PhotoAudit all;
  const model::Grid grid =
      model::patch_grid(network_.config(), photo.pixels.size(2), photo.pixels.size(3));
  const at::Tensor empty = baseline(photo.pixels, options_.fill, specification_);
  for (const AuditedMap& audited : maps) {
    const auto of_class = followed_class(photo, audited.map);
    MapAudit found = audit_values(photo, empty, audited.map, of_class);
    if (options_.parts.model) audit_dependence(photo, audited, found);
    all.maps.push_back(std::move(found));
    std::vector<MapAudit>& controls = all.controls[of_class];
    while (static_cast<std::int64_t>(controls.size()) < options_.random_maps) {
      // Other seeds than the one that --method random draws with.
      const std::uint64_t seed = options_.seed + 1 + controls.size();
      controls.push_back(audit_values(photo, empty, random_map(grid, seed), of_class));
    }
  }
  if (options_.parts.weights && !photo.likeliest.empty())
    all.weights = audit_weights(photo, empty, grid);
  return all;
}

}  // namespace vitascope::explain
