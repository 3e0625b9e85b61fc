#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "vit/explain/batches.h"
#include "vit/image/specification.h"

/// \file
/// Is a map faithful? Patches are taken away or put back in its order, and the model is asked what
/// it still sees.
namespace vitascope::explain {

/// What stands where a patch was taken away.
enum class Fill {
  mean,  ///< the model's mean colour: 0 in normalised pixels
  zero,  ///< black
  blur,  ///< the photo blurred: Gaussian, sigma a twentieth of the shorter side, borders repeated
};

/// The photo with everything taken away.
/// \param pixels        [1, 3, H, W], normalised
/// \param specification says what black is once normalised
at::Tensor baseline(const at::Tensor& pixels, Fill fill, const image::Specification& specification);

/// Cells of a map [rows, columns] from the most relevant to the least; of equal ones the lower
/// index first.
std::vector<std::int64_t> most_relevant_first(const at::Tensor& map);

/// What a model says after more and more patches were replaced.
struct Curve {
  std::vector<std::int64_t> patches;  ///< how many were; from 0 to all
  std::vector<double> probability;    ///< of the class
  std::vector<bool> leads;            ///< whether the class is the most probable one

  bool operator==(const Curve&) const = default;
};

/// Whose probability a curve follows, and how finely.
struct CurveOptions {
  std::int64_t of_class = 0;
  std::int64_t steps = 0;  ///< how many answers at least; 0: one after each patch
};

/// Replaces patches of `from` by those of `to`. Deletion: from the photo to the baseline;
/// insertion: the other way (Petsiuk et al. 2018, arXiv:1806.07421). \param order every patch once,
/// row-major indices on the grid \param rows,columns of the grid; must divide H and W \throws
/// std::invalid_argument when they don't
Curve replacement_curve(const Scores& probabilities, const at::Tensor& from, const at::Tensor& to,
                        const std::vector<std::int64_t>& order, std::int64_t rows,
                        std::int64_t columns, const CurveOptions& options,
                        const Batching& batching = {});

/// The curve backwards: replacing in order from a to b is replacing in the opposite order from b
/// to a, so deletion of the least relevant first is insertion of the most relevant first.
Curve reversed(const Curve& curve);

/// Area under the probability by trapezoids, all patches being width 1: 0 .. 1.
double area(const Curve& curve);

/// Area under "does the class still lead" between 10 % and 90 % of patches, that width being 1
/// (Chefer et al. 2021, arXiv:2012.09838). The mean over photos is the paper's figure.
double perturbation_score(const Curve& deletion);

/// How far a map tells what the model's answer rests on.
struct Faithfulness {
  Curve deletion_most_first;   ///< falls early for a faithful map
  Curve deletion_least_first;  ///< falls late
  Curve insertion_most_first;  ///< rises early

  double deletion = 0;   ///< area under deletion_most_first: lower is better
  double insertion = 0;  ///< area under insertion_most_first: higher is better
  /// Both areas on a scale where 0 is the baseline's probability throughout and 1 the photo's, so
  /// that photos compare (Schulz et al. 2020, arXiv:2001.00396). Nothing where both have the same.
  std::optional<double> relative_deletion, relative_insertion;
  /// Symmetric relevance gain (Bluecher et al. 2024, arXiv:2401.06654): the area of
  /// deletion_least_first minus that of deletion_most_first; 0 in the mean for a random map.
  double symmetric_gain = 0;
  double positive_perturbation = 0;  ///< perturbation_score, most relevant first: lower is better
  double negative_perturbation = 0;  ///< least relevant first: higher is better
  /// p(photo) - p(photo without the most relevant 1, 5, 10, 20, 50 % of patches, rounded up), the
  /// mean of the five (DeYoung et al. 2020, arXiv:1911.03429): higher is better.
  double comprehensiveness = 0;
  double sufficiency = 0;  ///< p(photo) - p(those patches alone), likewise: lower is better
};

/// Two runs over the patches give all of it.
/// \param pixels, baseline [1, 3, H, W]
/// \param map              [rows, columns]
Faithfulness faithfulness(const Scores& probabilities, const at::Tensor& pixels,
                          const at::Tensor& baseline, const at::Tensor& map,
                          const CurveOptions& options, const Batching& batching = {});

}  // namespace vitascope::explain
