#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vit/explain/attention_audit.h"
#include "vit/explain/curves.h"
#include "vit/explain/method.h"
#include "vit/explain/pointing.h"
#include "vit/explain/randomised.h"

/// \file
/// How far the maps of a photo may be believed: everything that is measured of them, together.
namespace vitascope::explain {

/// What is measured. Each part answers a question of its own and takes its own time.
struct AuditParts {
  bool faithfulness = true;  ///< does the answer rest on what the map marks?
  bool weights = true;       ///< does the answer depend on the attention weights?
  bool model = true;         ///< does the map depend on what the model learned, and on the class?
};

/// How it is measured.
struct AuditOptions {
  AuditParts parts;
  Fill fill = Fill::mean;           ///< what stands where a patch was taken away
  std::int64_t steps = 24;          ///< of a curve, at least
  std::int64_t random_maps = 3;     ///< controls beside the maps
  std::int64_t permutations = 100;  ///< of attention weights
  AdversaryOptions adversary{.steps = 100, .starts = 2};
  std::uint64_t seed = 0;
};

/// A map that is audited, and how it was made.
struct AuditedMap {
  const Method* method = nullptr;
  MapOptions options;
  Map map;
};

/// The photo as the network sees it.
struct AuditedPhoto {
  at::Tensor pixels;  ///< [1, 3, H, W], normalised
  image::View view;
  at::Tensor object;                    ///< bool [H, W] over the upright photo; undefined: unknown
  std::vector<std::int64_t> likeliest;  ///< classes, the predicted one first; of a backbone none
};

/// What was found of one map. Parts that were not asked for, or that a model without head does not
/// have, hold nothing.
struct MapAudit {
  std::optional<std::int64_t> of_class;  ///< whose probability curves follow
  std::optional<Faithfulness> faithfulness;
  /// Spearman's correlation with the map of the likeliest other class. Nothing where the method
  /// explains no class, takes many passes, or a map is constant.
  std::optional<double> other_class;
  std::vector<CascadeStage> cascade;  ///< none for methods of many passes
  std::optional<Pointing> pointing;   ///< where the object is known and was seen
};

/// What was found of the attention weights of the last layer.
struct WeightsAudit {
  int layer = 0;
  PermutationAudit permutations;
  double uniform = 0;  ///< total variation distance of the answer to even weights
  Adversary adversary;
  /// Kendall's tau of the weights, the mean over heads, with the gradient's importance of patches
  /// and with what leaving each out changes. Nothing where one of them is constant.
  std::optional<double> tau_gradient, tau_leave_one_out;
};

/// All of a photo.
struct PhotoAudit {
  std::vector<MapAudit> maps;  ///< in the order in which they came
  /// Random maps under the same measures, by the class that curves follow.
  std::map<std::optional<std::int64_t>, std::vector<MapAudit>> controls;
  std::optional<WeightsAudit> weights;
};

/// Audits photos of one network.
class Auditor {
 public:
  /// Called on the way; to end the work it throws.
  using Progress =
      std::function<void(const std::string& what, std::int64_t done, std::int64_t all)>;

  /// \param network       with plain weights; outlives the auditor
  /// \param probabilities of the same network, as probabilities_of gives them; empty for a backbone
  /// \param specification what black is to the network
  /// \param progress      may be empty
  Auditor(const model::VisionTransformer& network, Scores probabilities,
          image::Specification specification, const AuditOptions& options, kernels::Backend backend,
          std::int64_t batch_size, Progress progress = {});

  PhotoAudit audit(const AuditedPhoto& photo, const std::vector<AuditedMap>& maps) const;

 private:
  MapAudit audit_values(const AuditedPhoto& photo, const at::Tensor& empty, const Map& map,
                        std::optional<std::int64_t> of_class) const;
  void audit_dependence(const AuditedPhoto& photo, const AuditedMap& map, MapAudit& found) const;
  WeightsAudit audit_weights(const AuditedPhoto& photo, const at::Tensor& empty,
                             model::Grid grid) const;
  Batching batching(const std::string& what) const;
  void report(const std::string& what, std::int64_t done, std::int64_t all) const;

  const model::VisionTransformer& network_;
  Scores probabilities_;
  image::Specification specification_;
  AuditOptions options_;
  kernels::Backend backend_;
  std::int64_t batch_size_;
  Progress progress_;
  std::vector<ForgetfulNetwork> forgetful_;  ///< made once for all photos
};

}  // namespace vitascope::explain
