#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/caption_audit_options.h"
#include "app/caption_result.h"
#include "datasets/coco_instances.h"
#include "vit/caption/captioner.h"
#include "vit/caption/sentence_audit.h"
#include "vit/explain/audit_figures.h"

/// \file
/// Does a caption depend on where its words looked, and did they look at what they name? Of one
/// photo, and of many together.
namespace vitascope::app {

/// The numbers that are measured, in the order in which they are shown.
const std::vector<explain::FigureKind>& caption_figure_kinds();

/// A noun whose object is known. The three are the parts of its attention that lie on the object.
struct AuditedNoun {
  std::string word;
  std::size_t position = 0;  ///< in the sentence
  std::string category;
  double own = 0;
  double permuted = 0;  ///< the mean over permutations
  double uniform = 0;   ///< of even attention: the object's share of the cells' area
};

/// What an audit found as numbers: of one photo, or the means of many.
struct CaptionAuditFigures {
  std::int64_t photos = 1;
  explain::Figures own, permuted, uniform;  ///< keys are those of caption_figure_kinds()
  bool masks = false;                       ///< whether it was known where objects are
  std::int64_t nouns = 0;                   ///< that were measured
  std::int64_t narrow = 0;                  ///< nouns whose objects are all smaller than a cell
};

/// All of one photo.
struct CaptionAudit {
  CaptionAuditFigures figures;
  std::vector<std::string> permuted_sentences;  ///< one a permutation
  std::string uniform_sentence;
  std::vector<AuditedNoun> nouns;
};

/// What is known of a photo when its caption is audited.
struct AuditedCaption {
  const PhotoCaptions& photo;
  const caption::Annotations& annotations;  ///< of that photo alone
  const caption::Caption& best;             ///< its first caption, as the search found it
  std::uint64_t number = 0;                 ///< of the photo: each has permutations of its own
};

/// Audits photos one after another.
class CaptionAuditor {
 public:
  /// \param search by which the captions were found
  /// \throws InputError when the file of masks can't be read or is damaged
  CaptionAuditor(const caption::Captioner& captioner, const CaptionAuditOptions& options,
                 const caption::BeamOptions& search, std::uint64_t seed);

  /// \throws InputError when the photo is not in the file of masks, or was annotated at another
  ///         aspect ratio
  CaptionAudit audit(const AuditedCaption& caption) const;

 private:
  void look_at_objects(const AuditedCaption& caption, const caption::SentenceAudit& found,
                       CaptionAudit& audit) const;

  const caption::Captioner& captioner_;
  CaptionAuditOptions options_;
  caption::BeamOptions search_;
  std::uint64_t seed_;
  std::optional<datasets::CocoInstances> objects_{};
};

/// The means over photos of what was found of each.
CaptionAuditFigures mean_caption_audit(const std::vector<CaptionAuditFigures>& photos);

}  // namespace vitascope::app
