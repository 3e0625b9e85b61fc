#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/audit_options.h"
#include "app/map_maker.h"
#include "app/options.h"
#include "datasets/coco_instances.h"
#include "vit/explain/audit_figures.h"

/// \file
/// The audit of a photo's maps, and of many photos together.
namespace vitascope::app {

/// What is known of one map, beside its curves.
struct AuditedMapFigures {
  std::string label;           ///< MapRequest::label
  bool tells_classes = false;  ///< whether it explains one class
  explain::Figures figures;
};

/// What an audit found, as numbers: of one photo, or the means of many.
struct AuditFigures {
  std::int64_t photos = 1;
  std::string fill = "mean";  ///< what stood where a patch was taken away: mean, zero or blur
  std::vector<AuditedMapFigures> maps;
  explain::Figures random;   ///< of the random maps beside them
  explain::Figures weights;  ///< of the last layer's attention
};

/// All of one photo.
struct PhotoAuditResult {
  explain::PhotoAudit found;
  AuditFigures figures;
};

/// Audits photos one after another.
class PhotoAuditor {
 public:
  /// \param probabilities as MapWork's
  /// \param go_on         as MapMaker's: called on the way, false ends the work
  /// \throws UsageError or InputError when a flag or the file of masks is wrong, or another model
  ///         can't be compared
  PhotoAuditor(const weights::Model& model, explain::Scores probabilities,
               const AuditChoice& choice, const RunOptions& run, std::uint64_t seed,
               MapMaker::GoOn go_on);

  /// \throws InputError when the photo is not in the file of masks; MapMaker::Stopped
  PhotoAuditResult audit(const ExplainedPhoto& photo) const;

 private:
  std::optional<double> agreement(const PhotoMap& map, const std::vector<at::Tensor>& pixels) const;

  AuditChoice choice_;
  kernels::Backend backend_;
  explain::Auditor auditor_;
  std::optional<datasets::CocoInstances> objects_;
  std::vector<weights::Model> others_;
};

/// The means over photos of what was found of each.
AuditFigures mean_audit(const std::vector<AuditFigures>& photos);

}  // namespace vitascope::app
