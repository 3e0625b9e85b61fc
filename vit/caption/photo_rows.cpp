#include "vit/caption/photo_rows.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace vitascope::caption {
namespace {

at::Tensor numbers(const std::vector<std::int64_t>& list, const at::Tensor& like) {
  return at::tensor(list, at::kLong).to(like.device());
}

}  // namespace

PhotoRows::PhotoRows(std::int64_t photos)
    : photo_(static_cast<std::size_t>(photos)), photos_(photos) {
  std::iota(photo_.begin(), photo_.end(), 0);
}

std::vector<std::int64_t> PhotoRows::select(at::IntArrayRef rows) {
  std::vector<std::int64_t> chosen;
  chosen.reserve(rows.size());
  std::vector<std::int64_t> number(static_cast<std::size_t>(photos_), 0);  // 1: has a row
  for (const std::int64_t row : rows) {
    if (row < 0 || row >= count()) {
      throw std::invalid_argument(
          fmt::format("there is no row {} to go on from: expected 0 to {}", row, count() - 1));
    }
    chosen.push_back(photo_[static_cast<std::size_t>(row)]);
    number[static_cast<std::size_t>(chosen.back())] = 1;
  }
  photo_ = std::move(chosen);
  std::vector<std::int64_t> kept;
  kept.reserve(number.size());
  for (std::size_t photo = 0; photo < number.size(); ++photo) {
    if (number[photo] == 0) continue;
    number[photo] = static_cast<std::int64_t>(kept.size());
    kept.push_back(static_cast<std::int64_t>(photo));
  }
  const bool all = kept.size() == number.size();
  photos_ = static_cast<std::int64_t>(kept.size());
  for (std::int64_t& photo : photo_) photo = number[static_cast<std::size_t>(photo)];
  place_rows();
  return all ? std::vector<std::int64_t>{} : kept;
}

void PhotoRows::place_rows() {
  std::vector<std::int64_t> rows_of(static_cast<std::size_t>(photos_), 0);
  for (const std::int64_t photo : photo_) ++rows_of[static_cast<std::size_t>(photo)];
  widest_ = rows_of.empty() ? 1 : *std::ranges::max_element(rows_of);
  const bool full = count() == photos_ * widest_ && std::ranges::is_sorted(photo_);
  slot_.clear();
  if (full) return;
  std::ranges::fill(rows_of, 0);
  slot_.reserve(photo_.size());
  for (const std::int64_t photo : photo_) {
    slot_.push_back(photo * widest_ + rows_of[static_cast<std::size_t>(photo)]++);
  }
}

at::Tensor PhotoRows::by_photo(const at::Tensor& rows) const {
  const std::vector<std::int64_t> shape{photos_, widest_, rows.size(1)};
  if (slot_.empty()) return rows.view(shape);
  const at::Tensor all = at::zeros({photos_ * widest_, rows.size(1)}, rows.options());
  return all.index_copy(0, numbers(slot_, rows), rows).view(shape);
}

at::Tensor PhotoRows::by_row(const at::Tensor& grouped) const {
  const at::Tensor all = grouped.flatten(0, 1);
  return slot_.empty() ? all : all.index_select(0, numbers(slot_, grouped));
}

}  // namespace vitascope::caption
