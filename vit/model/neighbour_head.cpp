#include "vit/model/neighbour_head.h"

#include <ATen/ATen.h>

#include <numeric>
#include <vector>

namespace vitascope::model {
namespace {

/// Beside the vote of the nearest photo.
constexpr double kLeastVote = 1e-9;

}  // namespace

at::Tensor unit_rows(const at::Tensor& rows) {
  const at::Tensor exact = rows.to(at::kFloat);
  return exact / exact.norm(2, {1}, /*keepdim=*/true).clamp_min(1e-12);
}

at::Tensor NeighbourHead::cosines(const at::Tensor& queries) const {
  return unit_rows(queries).matmul(features.to(at::kFloat).t());
}

at::Tensor NeighbourHead::logits_of(const at::Tensor& cosines) const {
  const auto [nearest, photos] = (cosines / vote.temperature).topk(vote.count, 1);  // [B, count]
  std::vector<std::int64_t> ends(vote.photos.size());  // of each class among the ordered photos
  std::partial_sum(vote.photos.begin(), vote.photos.end(), ends.begin());
  const at::Tensor classes = at::bucketize(photos, at::tensor(ends, photos.options()),
                                           /*out_int32=*/false, /*right=*/true);
  // The largest vote is 1 and none overflows.
  const at::Tensor most = nearest.slice(1, 0, 1).detach();
  const at::Tensor votes =
      at::zeros({cosines.size(0), std::ssize(ends)}, nearest.options().requires_grad(false))
          .scatter_add(1, classes, (nearest - most).exp());
  return votes.clamp_min(kLeastVote).log() + most;
}

}  // namespace vitascope::model
