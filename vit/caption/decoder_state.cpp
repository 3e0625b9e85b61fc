#include "vit/caption/decoder_state.h"

#include <ATen/ATen.h>

namespace vitascope::caption {
namespace {

/// Words that a cache has room for at first; then twice as many as before.
constexpr std::int64_t kCapacity = 16;

at::Tensor with_room(const at::Tensor& kept, const at::Tensor& like, std::int64_t capacity) {
  at::Tensor wider =
      at::empty({like.size(0), like.size(1), capacity, like.size(3)}, like.options());
  if (kept.defined()) wider.narrow(2, 0, kept.size(2)).copy_(kept);
  return wider;
}

bool in_place(at::IntArrayRef rows, std::int64_t count) {
  if (static_cast<std::int64_t>(rows.size()) != count) return false;
  for (std::int64_t i = 0; i < count; ++i) {
    if (rows[static_cast<std::size_t>(i)] != i) return false;
  }
  return true;
}

}  // namespace

void Cache::append(const at::Tensor& key, const at::Tensor& value, std::int64_t length) {
  if (!keys.defined() || length == keys.size(2)) {
    const std::int64_t capacity = keys.defined() ? 2 * keys.size(2) : kCapacity;
    keys = with_room(keys, key, capacity);
    values = with_room(values, value, capacity);
  }
  keys.narrow(2, length, 1).copy_(key);
  values.narrow(2, length, 1).copy_(value);
}

void reorder(DecoderState& state, at::IntArrayRef rows) {
  if (in_place(rows, state.rows.count())) return;
  const std::vector<std::int64_t> left = state.rows.select(rows);
  const at::Device device = state.photos.front().values.device();
  if (!left.empty()) {
    const at::Tensor photos = at::tensor(left, at::kLong).to(device);
    for (Prepared& prepared : state.photos) prepared = select_photos(prepared, photos);
  }
  const at::Tensor index = at::tensor(rows, at::kLong).to(device);
  const auto choose = [&](at::Tensor& all) {
    if (all.defined()) all = all.index_select(0, index);
  };
  choose(state.hidden);
  choose(state.cell);
  choose(state.features);
  for (Cache& cache : state.caches) {
    choose(cache.keys);
    choose(cache.values);
  }
}

}  // namespace vitascope::caption
