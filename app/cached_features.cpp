#include "app/cached_features.h"

#include <ATen/ATen.h>

#include "app/output.h"

namespace vitascope::app {

CachedFeatures::CachedFeatures(const std::string& path, std::string key) {
  if (path.empty()) return;
  cache_.emplace(path, std::move(key));
  if (!cache_->note().empty()) output::warning(cache_->note());
}

std::vector<std::size_t> CachedFeatures::look_up(const datasets::LabelledImages& images,
                                                 const std::vector<std::size_t>& samples) {
  rows_.resize(samples.size());
  keys_.resize(samples.size());
  std::vector<std::size_t> missing;
  missing.reserve(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (cache_) {
      keys_[i] = photo_key(images, images.samples[samples[i]]);
      if (const auto row = cache_->find(keys_[i])) rows_[i] = row->clone();
    }
    if (!rows_[i].defined()) missing.push_back(i);
  }
  return missing;
}

void CachedFeatures::set(std::size_t position, const at::Tensor& features) {
  rows_[position] = features.flatten().to(at::kFloat).clone();
  if (cache_) cache_->add(keys_[position], rows_[position]);
}

void CachedFeatures::save() {
  if (cache_) cache_->save();
}

std::pair<at::Tensor, std::vector<std::size_t>> CachedFeatures::all() const {
  std::vector<at::Tensor> rows;
  std::vector<std::size_t> positions;
  rows.reserve(rows_.size());
  positions.reserve(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i].defined()) continue;
    rows.push_back(rows_[i]);
    positions.push_back(i);
  }
  return {rows.empty() ? at::empty({0, 0}) : at::stack(rows), std::move(positions)};
}

}  // namespace vitascope::app
