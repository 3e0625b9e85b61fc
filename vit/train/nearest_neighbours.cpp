#include "vit/train/nearest_neighbours.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "vit/error.h"
#include "vit/model/neighbour_head.h"

namespace vitascope::train {
namespace {

/// Similarities, or votes, in memory at once, at most.
constexpr std::int64_t kSimilarities = std::int64_t{1} << 25;

void validate(std::span<const std::int64_t> ks, double temperature) {
  for (const std::int64_t k : ks) {
    if (k < 1) throw UsageError(fmt::format("{} nearest neighbours: expected 1 or more", k));
  }
  if (!(temperature > 0)) {
    throw UsageError(fmt::format("a temperature of {}: expected more than 0", temperature));
  }
}

}  // namespace

std::vector<at::Tensor> neighbour_votes(const LabelledNeighbours& neighbours,
                                        const at::Tensor& queries, std::span<const std::int64_t> ks,
                                        double temperature) {
  validate(ks, temperature);
  const auto& [features, targets] = neighbours;
  if (features.dim() != 2 || queries.dim() != 2 || features.size(1) != queries.size(1) ||
      features.size(0) == 0 || targets.dim() != 2 || targets.size(0) != features.size(0)) {
    throw std::invalid_argument(
        "nearest neighbours: expected features [n, F], targets [n, K] and queries [m, F]");
  }
  const c10::AutoGradMode no_gradient(false);
  const std::int64_t count = features.size(0);
  const std::int64_t classes = targets.size(1);
  std::vector<at::Tensor> votes;
  votes.reserve(ks.size());
  for (std::size_t i = 0; i < ks.size(); ++i) {
    votes.push_back(at::zeros({queries.size(0), classes}, queries.options().dtype(at::kFloat)));
  }
  if (ks.empty()) return votes;
  const at::Tensor bank = model::unit_rows(features).t();
  const at::Tensor labels = targets.to(at::kFloat);
  const std::int64_t most = std::min(count, std::ranges::max(ks));
  const std::int64_t rows =
      std::max<std::int64_t>(1, kSimilarities / std::max(count, most * classes));
  for (std::int64_t begin = 0; begin < queries.size(0); begin += rows) {
    const at::Tensor part = queries.slice(0, begin, std::min(begin + rows, queries.size(0)));
    const auto [similarities, nearest] = model::unit_rows(part).matmul(bank).topk(most, 1);
    // Shares stay the same when all votes shrink alike; so the largest is 1 and none overflows.
    const at::Tensor weights =
        ((similarities - similarities.slice(1, 0, 1)) / temperature).exp();  // [rows, most]
    const at::Tensor theirs =
        labels.index_select(0, nearest.flatten()).view({part.size(0), most, classes});
    for (std::size_t i = 0; i < ks.size(); ++i) {
      const at::Tensor voices = weights.slice(1, 0, std::min(ks[i], most));
      const at::Tensor sums =
          at::bmm(voices.unsqueeze(1), theirs.slice(1, 0, voices.size(1))).squeeze(1);
      votes[i].slice(0, begin, begin + part.size(0)).copy_(sums / voices.sum(1, true));
    }
  }
  return votes;
}

}  // namespace vitascope::train
