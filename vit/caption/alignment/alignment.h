#pragma once

#include <variant>

#include "vit/caption/alignment/additive.h"
#include "vit/caption/alignment/concat.h"
#include "vit/caption/alignment/dot.h"
#include "vit/caption/alignment/general.h"
#include "vit/caption/alignment/multi_head.h"
#include "vit/caption/alignment/scaled_dot.h"
#include "vit/caption/alignment/window.h"
#include "vit/caption/annotations.h"

/// \file
/// The attention of a decoder: a score, a window over it, and the sum of what is seen.
namespace vitascope::caption {

/// What of a photo's annotations is computed once and used at every step.
struct Prepared {
  at::Tensor keys{};    ///< as the score wants them
  at::Tensor values{};  ///< [B, L, Da], or projected to [B, H, L, D]
  Places places{};
};

/// Where each query looked, and what it saw.
struct Aligned {
  at::Tensor context;  ///< [B, Q, C]
  at::Tensor weights;  ///< [B, Q, L]; of several heads the mean
};

/// Any of the attentions behind one interface. Q queries look at one photo: beams, or words whose
/// predecessors are known.
struct Alignment {
  std::variant<Additive, Dot, General, Concat, ScaledDot, MultiHead> score;
  Window window;

  Alignment() = default;
  /// Parameters are undefined until they are assigned through list().
  /// \throws UsageError as validate(config) does
  explicit Alignment(const AlignmentConfig& config);

  /// Appends all parameters, names with `prefix` before them.
  void list(const AlignmentConfig& config, const std::string& prefix, Slots& slots);

  /// Packs what each query is multiplied by. \see kernels::pack
  void pack();

  Prepared prepare(const Annotations& annotations) const;

  /// \param queries [B, Q, Dq] \param step number of the word, from 0
  Aligned align(const at::Tensor& queries, const Prepared& prepared, std::int64_t step = 0) const;

  /// The weights alone, [B, Q, L]; not of several heads.
  at::Tensor weights(const at::Tensor& queries, const Prepared& prepared, std::int64_t step) const;
};

/// The photos of these numbers.
/// \param photos int64 [n]
Prepared select_photos(const Prepared& prepared, const at::Tensor& photos);

}  // namespace vitascope::caption
