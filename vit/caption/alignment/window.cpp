#include "vit/caption/alignment/window.h"

#include <ATen/ATen.h>

namespace vitascope::caption {
namespace {

at::Tensor both(const at::Tensor& window, const at::Tensor& mask) {
  return mask.defined() ? window.logical_and(mask) : window;
}

}  // namespace

void Window::list(const AlignmentConfig& config, const std::string& prefix, Slots& slots) {
  if (reach != Reach::local_p && reach != Reach::local_p_grid) return;
  slots.push_back({prefix + "W_p", &hidden, {config.width, config.query_width}});
  if (reach == Reach::local_p) {
    slots.push_back({prefix + "v_p", &place, {config.width}});
  } else {
    slots.push_back({prefix + "v_row", &row, {config.width}});
    slots.push_back({prefix + "v_col", &column, {config.width}});
  }
}

std::vector<at::Tensor> Window::predicted(const at::Tensor& queries) const {
  const at::Tensor u = at::linear(queries, hidden).tanh();
  const auto share = [&](const at::Tensor& v) { return at::matmul(u, v).sigmoid().unsqueeze(-1); };
  if (reach == Reach::local_p) return {share(place)};
  return {share(row), share(column)};
}

Field Window::field(const at::Tensor& queries, const Places& places, std::int64_t step) const {
  if (reach == Reach::global) return {places.mask, {}};
  const at::Tensor position = at::arange(places.count, queries.options());
  if (reach == Reach::local_m) {
    return {both((position - static_cast<double>(step)).abs() <= half_width, places.mask), {}};
  }
  const auto centre = predicted(queries);
  const double twice_variance = half_width * half_width / 2;  // sigma = D / 2
  const auto fading = [&](const at::Tensor& squares) { return (squares / -twice_variance).exp(); };
  if (reach == Reach::local_p) {
    const at::Tensor p = places.lengths.defined() ? centre[0] * places.lengths.unsqueeze(-1)
                                                  : centre[0] * static_cast<double>(places.count);
    const at::Tensor away = position - p;
    return {both(away.abs() <= half_width, places.mask), fading(away.square())};
  }
  const std::int64_t rows = places.count / places.columns;
  const at::Tensor down = position.div(places.columns, "floor") - centre[0] * rows;
  const at::Tensor along = position.remainder(places.columns) - centre[1] * places.columns;
  const at::Tensor inside = (down.abs() <= half_width).logical_and(along.abs() <= half_width);
  return {both(inside, places.mask), fading(down.square() + along.square())};
}

}  // namespace vitascope::caption
