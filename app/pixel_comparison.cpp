#include "app/pixel_comparison.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "app/pixel_attempts.h"
#include "vit/error.h"
#include "vit/image/preprocess.h"

namespace vitascope::app {
namespace {

// Half a hundredth of a level covers the rounding of float32 in rescaling and normalising.
constexpr double kOneLevel = 1.005;
constexpr double kSameLevel = 0.05;

// value = (level * scale - mean) / std of each channel.
struct Normalisation {
  double scale = 1;
  std::array<double, 3> mean{0, 0, 0}, std{1, 1, 1};
};

Normalisation normalisation_of(const image::Specification& specification) {
  Normalisation result{.scale = specification.rescale ? specification.rescale_factor : 1.0};
  if (specification.normalise) {
    for (std::size_t c = 0; c < 3; ++c) {
      result.mean[c] = specification.mean[c];
      result.std[c] = specification.std[c];
    }
  }
  return result;
}

at::Tensor per_channel(const std::array<double, 3>& values) {
  return at::tensor(values, at::TensorOptions(at::kDouble)).view({3, 1, 1});
}

// Undoes a normalisation: values [3, H, W] -> 8-bit levels, not rounded.
at::Tensor denormalise(const at::Tensor& values, const Normalisation& normalisation) {
  return (values.to(at::kDouble) * per_channel(normalisation.std) +
          per_channel(normalisation.mean)) /
         normalisation.scale;
}

LevelDifference difference(const at::Tensor& levels, const at::Tensor& reference) {
  const at::Tensor apart = (levels - reference).abs();
  // Written so that NaN counts as different.
  return {apart.max().item<double>(), apart.mean().item<double>(),
          1 - (apart <= kSameLevel).to(at::kDouble).mean().item<double>()};
}

// The straight line that maps our levels to the reference's values best, channel by channel.
// Nothing when a channel is too flat to tell, or when the line falls.
std::optional<Normalisation> fit(const at::Tensor& levels, const at::Tensor& values) {
  Normalisation result{.scale = 1.0 / 255.0};
  for (std::size_t c = 0; c < 3; ++c) {
    const at::Tensor x = levels[std::int64_t(c)].to(at::kDouble);
    const at::Tensor y = values[std::int64_t(c)].to(at::kDouble);
    const double x_mean = x.mean().item<double>(), y_mean = y.mean().item<double>();
    const double variance = (x - x_mean).square().mean().item<double>();
    const double slope = ((x - x_mean) * (y - y_mean)).mean().item<double>() / variance;
    if (!(variance > 25) || !(slope > 1e-6)) return std::nullopt;
    result.std[c] = 1 / (255 * slope);
    result.mean[c] = -(y_mean - slope * x_mean) * result.std[c];
  }
  return result;
}

struct KnownNormalisation {
  const char* name;
  std::array<double, 3> mean, std;
};

constexpr std::array kKnown{
    KnownNormalisation{"ImageNet's", {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}},
    KnownNormalisation{"0.5", {0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}},
    KnownNormalisation{
        "CLIP's", {0.48145466, 0.4578275, 0.40821073}, {0.26862954, 0.26130258, 0.27577711}},
    KnownNormalisation{"none (0 to 1)", {0, 0, 0}, {1, 1, 1}},
    KnownNormalisation{"none, nor rescaled (0 to 255)", {0, 0, 0}, {1 / 255., 1 / 255., 1 / 255.}},
};

// Moves a fitted normalisation to the known one beside it and says its name.
std::string snap(Normalisation& fitted) {
  for (const KnownNormalisation& known : kKnown) {
    bool near = true;
    for (std::size_t c = 0; c < 3; ++c) {
      near = near && std::abs(fitted.mean[c] - known.mean[c]) < 0.01 &&
             std::abs(fitted.std[c] / known.std[c] - 1) < 0.01;
    }
    if (!near) continue;
    fitted.mean = known.mean;
    fitted.std = known.std;
    return known.name;
  }
  return fmt::format("mean {:.3f}, std {:.3f}", fmt::join(fitted.mean, " "),
                     fmt::join(fitted.std, " "));
}

// The best explanation so far.
class Search {
 public:
  Search(at::Tensor values, Normalisation own)
      : values_(std::move(values)), levels_(denormalise(values_, own)) {
    // A program that clips to 0..255 is compared with attempts that are clipped too.
    clips_ = levels_.min().item<double>() > -0.5 && levels_.max().item<double>() < 255.5;
  }

  LevelDifference with_own_normalisation(const at::Tensor& levels) const {
    return difference(clips_ ? levels.clamp(0, 255) : levels, levels_);
  }

  void consider(std::vector<Cause> causes, const at::Tensor& levels) {
    offer(std::move(causes), with_own_normalisation(levels));
  }

  // The same with whatever mean and standard deviation fit best.
  void consider_normalised(std::vector<Cause> causes, const at::Tensor& levels) {
    std::optional<Normalisation> fitted = fit(levels, values_);
    if (!fitted) return;
    const std::string name = snap(*fitted);
    causes.push_back({"normalisation", "normalised with another mean and std: " + name});
    offer(std::move(causes), difference(levels, denormalise(values_, *fitted)));
  }

  bool explained() const { return best_.largest <= kOneLevel; }
  const std::vector<Cause>& causes() const { return causes_; }
  const LevelDifference& best() const { return best_; }

 private:
  // An earlier, simpler explanation keeps its place unless a later one is clearly nearer.
  void offer(std::vector<Cause> causes, const LevelDifference& found) {
    const bool fits = found.largest <= kOneLevel;
    if (fits < explained()) return;
    if (fits == explained() && !(found.mean < 0.7 * best_.mean - 0.001)) return;
    best_ = found;
    causes_ = std::move(causes);
  }

  at::Tensor values_, levels_;
  bool clips_ = false;
  LevelDifference best_{std::numeric_limits<double>::infinity(),
                        std::numeric_limits<double>::infinity(), 1};
  std::vector<Cause> causes_;
};

const Cause kSwapped{"channel_order", "channels in the order blue, green, red"};

std::vector<Cause> with(std::vector<Cause> causes, const Cause& more) {
  causes.push_back(more);
  return causes;
}

void search(Search& search, const std::vector<Attempt>& attempts) {
  std::vector<at::Tensor> levels;
  for (const Attempt& attempt : attempts) {
    levels.push_back(attempt.levels());
    search.consider(attempt.causes, levels.back());
  }
  if (search.explained()) return;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    search.consider(with(attempts[i].causes, kSwapped), levels[i].flip(0));
  }
  if (search.explained()) return;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    search.consider_normalised(attempts[i].causes, levels[i]);
    search.consider_normalised(with(attempts[i].causes, kSwapped), levels[i].flip(0));
  }
}

std::string joined(const std::vector<Cause>& causes) {
  std::string text;
  for (const Cause& cause : causes) text += (text.empty() ? "" : "; ") + cause.text;
  return text;
}

}  // namespace

bool PixelComparison::within_one_level() const { return ours.largest <= kOneLevel; }

PixelComparison compare_pixels(const at::Tensor& reference, const image::Picture& picture,
                               const image::Specification& specification) {
  const at::Tensor own = levels_of(image::prepare_bytes(picture, specification));
  if (own.sizes() != reference.sizes()) {
    throw InternalError("compare_pixels: the reference has another size than the specification");
  }
  Search best(reference, normalisation_of(specification));
  PixelComparison result;
  result.ours = best.with_own_normalisation(own);
  result.explained = result.ours;
  if (result.identical()) return result;

  std::vector<Attempt> all{{{}, [&own] { return own; }}};
  for (Attempt& attempt : attempts(picture, specification)) all.push_back(std::move(attempt));
  search(best, all);
  result.explained = best.best();
  if (best.explained()) {
    result.causes = best.causes();
    if (result.causes.empty()) {
      result.causes.push_back({"torchvision",
                               "resized by a back end that rounds differently, as "
                               "torchvision's does"});
    }
  } else {
    result.nearest = best.causes().empty() ? "our own preparation" : joined(best.causes());
  }
  return result;
}

}  // namespace vitascope::app
