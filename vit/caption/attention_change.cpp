#include "vit/caption/attention_change.h"

#include <ATen/ATen.h>

#include <vector>

namespace vitascope::caption {
namespace {

/// [B, L] -> what broadcasts to values [B, L, D] or [B, H, L, D].
at::Tensor beside(const at::Tensor& values, const at::Tensor& of_places) {
  return values.dim() == 3 ? of_places.unsqueeze(-1) : of_places.unsqueeze(1).unsqueeze(-1);
}

/// The mean over the places that are seen, [B, 1, D] or [B, H, 1, D].
at::Tensor mean_value(const at::Tensor& values, const at::Tensor& mask) {
  if (!mask.defined()) return values.mean(-2, true);
  const at::Tensor seen = beside(values, mask.squeeze(1)).to(values.scalar_type());
  return (values * seen).sum(-2, true) / seen.sum(-2, true).clamp_min(1);
}

}  // namespace

at::Tensor shuffled_places(std::int64_t count, const at::Tensor& seen, RandomNumbers& random) {
  const at::Tensor places = at::arange(count, at::kLong);
  const at::Tensor free = seen.defined() ? places.masked_select(seen) : places;
  const at::Tensor order = at::tensor(random.permutation(free.size(0)), at::kLong);
  return places.index_copy(0, free, free.index_select(0, order));
}

void change_attention(DecoderState& state, const AttentionChange& change) {
  for (Prepared& photo : state.photos) {
    const at::Tensor& values = photo.values;
    const at::Device device = values.device();
    const at::Tensor moved = values.take_along_dim(beside(values, change.places.to(device)), -2);
    const at::Tensor even = change.even.to(device).unsqueeze(1);
    photo.values = at::where(beside(values, even), mean_value(values, photo.places.mask), moved);
  }
}

at::Tensor changed_weights(const at::Tensor& weights, const AttentionChange& change,
                           const at::Tensor& seen) {
  const at::Device device = weights.device();
  const at::Tensor places = change.places.to(device).unsqueeze(1).expand_as(weights);
  const at::Tensor moved = at::zeros_like(weights).scatter(-1, places, weights);
  const at::Tensor sums = weights.sum(-1, true);
  const at::Tensor level =
      seen.defined()
          ? sums * (seen.to(weights.scalar_type()) / seen.sum(-1, true).clamp_min(1)).unsqueeze(1)
          : (sums / weights.size(-1)).expand_as(weights);
  return at::where(change.even.to(device).view({-1, 1, 1}), level, moved);
}

}  // namespace vitascope::caption
