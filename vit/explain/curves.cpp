#include "vit/explain/curves.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "vit/explain/perturbation.h"

namespace vitascope::explain {
namespace {

/// The shares of patches, in percent, that sufficiency and comprehensiveness are averaged over.
constexpr std::array<std::int64_t, 5> kRationales{1, 5, 10, 20, 50};

std::int64_t rationale(std::int64_t percent, std::int64_t patches) {
  return (percent * patches + 99) / 100;
}

/// The whole number nearest to part / parts of the patches, halves up.
std::int64_t share(std::int64_t part, std::int64_t parts, std::int64_t patches) {
  return (2 * part * patches + parts) / (2 * parts);
}

std::int64_t tenth_of(std::int64_t tenth, std::int64_t patches) {
  return share(tenth, 10, patches);
}

/// How many patches are replaced at each point: `steps` even steps and whatever a figure is read
/// off at, from either end, so that a curve can be reversed.
std::vector<std::int64_t> points(std::int64_t patches, std::int64_t steps) {
  std::vector<std::int64_t> result;
  if (steps <= 0 || steps >= patches) {
    result.resize(static_cast<std::size_t>(patches + 1));
    std::iota(result.begin(), result.end(), 0);
    return result;
  }
  const auto add = [&](std::int64_t count) {
    result.push_back(count);
    result.push_back(patches - count);
  };
  for (std::int64_t step = 0; step <= steps; ++step) add(share(step, steps, patches));
  for (const std::int64_t percent : kRationales) add(rationale(percent, patches));
  for (std::int64_t tenth = 1; tenth < 10; ++tenth) add(tenth_of(tenth, patches));
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// A Gaussian's weights, cut off at three sigma.
at::Tensor gaussian(double sigma) {
  const auto radius = static_cast<std::int64_t>(std::ceil(3 * sigma));
  const at::Tensor x = at::arange(-radius, radius + 1, at::kDouble) / sigma;
  const at::Tensor weights = at::exp(x.square() / -2);
  return weights / weights.sum();
}

at::Tensor blurred(const at::Tensor& pixels) {
  const double sigma = static_cast<double>(std::min(pixels.size(2), pixels.size(3))) / 20;
  const at::Tensor kernel = gaussian(sigma).to(pixels.options());
  const std::int64_t length = kernel.size(0);
  const std::int64_t radius = length / 2;
  // A picture a channel: the same weights for each.
  const at::Tensor padded =
      at::replication_pad2d(pixels.transpose(0, 1), {radius, radius, radius, radius});
  const at::Tensor along = at::conv2d(padded, kernel.view({1, 1, 1, length}));
  return at::conv2d(along, kernel.view({1, 1, length, 1})).transpose(0, 1);
}

std::size_t point_of(const Curve& curve, std::int64_t patches) {
  const auto found = std::ranges::find(curve.patches, patches);
  if (found == curve.patches.end()) {
    throw std::invalid_argument("the curve has no answer after " + std::to_string(patches) +
                                " patches");
  }
  return static_cast<std::size_t>(found - curve.patches.begin());
}

/// The mean over the shares of p(photo) - p(curve at that share).
double mean_drop(const Curve& curve, double photo) {
  double total = 0;
  for (const std::int64_t percent : kRationales) {
    total += photo - curve.probability[point_of(curve, rationale(percent, curve.patches.back()))];
  }
  return total / static_cast<double>(kRationales.size());
}

}  // namespace

at::Tensor baseline(const at::Tensor& pixels, Fill fill,
                    const image::Specification& specification) {
  if (fill == Fill::blur) return blurred(pixels);
  at::Tensor colour = at::zeros({1, 3, 1, 1});
  if (fill == Fill::zero && specification.normalise) {
    const at::Tensor mean = at::tensor(at::ArrayRef<float>(specification.mean));
    const at::Tensor std = at::tensor(at::ArrayRef<float>(specification.std));
    colour = (-mean / std).view({1, 3, 1, 1});
  }
  return colour.to(pixels.options()).expand_as(pixels).contiguous();
}

std::vector<std::int64_t> most_relevant_first(const at::Tensor& map) {
  const at::Tensor flat = map.to(at::kCPU, at::kDouble).flatten();
  const at::Tensor order = std::get<1>(flat.sort(/*stable=*/true, /*dim=*/0, /*descending=*/true));
  return {order.const_data_ptr<std::int64_t>(),
          order.const_data_ptr<std::int64_t>() + order.numel()};
}

Curve replacement_curve(const Scores& probabilities, const at::Tensor& from, const at::Tensor& to,
                        const std::vector<std::int64_t>& order, std::int64_t rows,
                        std::int64_t columns, const CurveOptions& options,
                        const Batching& batching) {
  const auto patches = static_cast<std::int64_t>(order.size());
  if (patches != rows * columns) {
    throw std::invalid_argument("an order of " + std::to_string(patches) +
                                " patches does not fit a grid of " + std::to_string(rows) + " x " +
                                std::to_string(columns));
  }
  Curve curve;
  curve.patches = points(patches, options.steps);
  at::Tensor current = from.clone();
  std::int64_t replaced = 0;
  const auto picture = [&](std::int64_t point) {
    for (; replaced < curve.patches[static_cast<std::size_t>(point)]; ++replaced) {
      const std::int64_t index = order[static_cast<std::size_t>(replaced)];
      cell_pixels(current, index, rows, columns).copy_(cell_pixels(to, index, rows, columns));
    }
    return current.clone();
  };
  const auto take = [&](std::int64_t, const at::Tensor& answers) {
    const at::Tensor first = answers.argmax(1);
    for (std::int64_t i = 0; i < answers.size(0); ++i) {
      curve.probability.push_back(answers[i][options.of_class].item<double>());
      curve.leads.push_back(first[i].item<std::int64_t>() == options.of_class);
    }
  };
  score_in_batches(probabilities, static_cast<std::int64_t>(curve.patches.size()), picture,
                   batching, take);
  return curve;
}

Curve reversed(const Curve& curve) {
  Curve result = curve;
  for (std::int64_t& count : result.patches) count = curve.patches.back() - count;
  std::ranges::reverse(result.patches);
  std::ranges::reverse(result.probability);
  std::reverse(result.leads.begin(), result.leads.end());
  return result;
}

double area(const Curve& curve) {
  double total = 0;
  for (std::size_t i = 1; i < curve.patches.size(); ++i) {
    const auto width = static_cast<double>(curve.patches[i] - curve.patches[i - 1]);
    total += width * (curve.probability[i - 1] + curve.probability[i]) / 2;
  }
  return total / static_cast<double>(curve.patches.back());
}

double perturbation_score(const Curve& deletion) {
  double total = 0;
  for (std::int64_t tenth = 1; tenth < 10; ++tenth) {
    const std::size_t point = point_of(deletion, tenth_of(tenth, deletion.patches.back()));
    const double weight = tenth == 1 || tenth == 9 ? 0.5 : 1;  // trapezoids of equal width
    total += weight * (deletion.leads[point] ? 1 : 0);
  }
  return total / 8;
}

Faithfulness faithfulness(const Scores& probabilities, const at::Tensor& pixels,
                          const at::Tensor& baseline, const at::Tensor& map,
                          const CurveOptions& options, const Batching& batching) {
  std::vector<std::int64_t> order = most_relevant_first(map);
  const auto deletion = [&](const Batching& reported) {
    return replacement_curve(probabilities, pixels, baseline, order, map.size(0), map.size(1),
                             options, reported);
  };
  // Two runs of the same length report as one.
  const auto half = [&](std::int64_t before) {
    Batching part = batching;
    if (batching.progress) {
      part.progress = [&batching, before](std::int64_t done, std::int64_t all) {
        batching.progress(before * all + done, 2 * all);
      };
    }
    return part;
  };
  Faithfulness result;
  result.deletion_most_first = deletion(half(0));
  std::ranges::reverse(order);
  result.deletion_least_first = deletion(half(1));
  result.insertion_most_first = reversed(result.deletion_least_first);

  const double photo = result.deletion_most_first.probability.front();
  result.deletion = area(result.deletion_most_first);
  result.insertion = area(result.insertion_most_first);
  const double nothing = result.deletion_most_first.probability.back();
  if (photo != nothing) {
    result.relative_deletion = (result.deletion - nothing) / (photo - nothing);
    result.relative_insertion = (result.insertion - nothing) / (photo - nothing);
  }
  result.symmetric_gain = area(result.deletion_least_first) - result.deletion;
  result.positive_perturbation = perturbation_score(result.deletion_most_first);
  result.negative_perturbation = perturbation_score(result.deletion_least_first);
  result.comprehensiveness = mean_drop(result.deletion_most_first, photo);
  result.sufficiency = mean_drop(result.insertion_most_first, photo);
  return result;
}

}  // namespace vitascope::explain
