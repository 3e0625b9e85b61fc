#include "vit/image/resize.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "vit/error.h"
#include "vit/image/resize_passes.h"

namespace vitascope::image {
namespace {

bool has_avx2() {
#if defined(__x86_64__)
  static const bool available = __builtin_cpu_supports("avx2") != 0;
  return available;
#else
  return false;
#endif
}

/// Read each time, so that tests can compare both.
bool use_avx2() {
  const char* wanted = std::getenv("VITASCOPE_CPU_ISA");
  return has_avx2() && (wanted == nullptr || std::string_view(wanted) != "baseline");
}

/// The horizontal pass over `count` rows that begin at `rows`; `readable` bytes follow from there.
std::vector<std::uint8_t> resize_rows(const Coefficients& across, const std::uint8_t* rows,
                                      std::size_t stride, std::size_t readable, int count) {
  std::vector<std::uint8_t> out(across.first.size() * 3 * count);
  const HorizontalPass pass{&across, rows, stride, readable, out.data(), count};
#if defined(__x86_64__)
  if (use_avx2()) {
    horizontal_avx2(pass);
    return out;
  }
#endif
  horizontal_baseline(pass);
  return out;
}

/// The vertical pass over rows of which `length` bytes count.
std::vector<std::uint8_t> resize_columns(const Coefficients& down, const std::uint8_t* rows,
                                         std::size_t stride, std::size_t length) {
  std::vector<std::uint8_t> out(down.first.size() * length);
  [[maybe_unused]] const bool avx2 = use_avx2();
  for (std::size_t y = 0; y < down.first.size(); ++y) {
    const VerticalPass pass{rows + down.first[y] * stride,
                            stride,
                            &down.weight[y * down.stride],
                            down.count[y],
                            length,
                            &out[y * length]};
#if defined(__x86_64__)
    if (avx2) {
      vertical_avx2(pass);
      continue;
    }
#endif
    vertical_baseline(pass);
  }
  return out;
}

/// Input pixels [first, last) of one axis.
struct Range {
  int first, last;
};

/// Lets the weights count from the first input pixel that any of them needs, and returns which do.
Range rebase(Coefficients& coefficients) {
  Range range{coefficients.first.front(), 0};
  for (std::size_t i = 0; i < coefficients.first.size(); ++i) {
    range.first = std::min(range.first, coefficients.first[i]);
    range.last = std::max(range.last, coefficients.first[i] + coefficients.count[i]);
  }
  for (int& first : coefficients.first) first -= range.first;
  return range;
}

/// Pillow begins with the columns where that saves the rows' pass much work. As each pass rounds,
/// the order shows in the bits.
bool rows_first(Size size, Size target) {
  const int shrinks = size.height - target.height;
  return shrinks <= 0 || shrinks <= 2 * (size.width - target.width);
}

std::vector<std::uint8_t> cut_out(const std::uint8_t* rgb, Size size, Region region) {
  std::vector<std::uint8_t> out;
  out.reserve(static_cast<std::size_t>(region.size.width) * region.size.height * 3);
  for (int y = region.top; y < region.top + region.size.height; ++y) {
    const std::uint8_t* row = rgb + (static_cast<std::size_t>(y) * size.width + region.left) * 3;
    out.insert(out.end(), row, row + static_cast<std::size_t>(region.size.width) * 3);
  }
  return out;
}

/// The input index of every output, as Pillow steps: by adding up, which rounds its own way.
std::vector<int> nearest_indices(int from, int to, int begin, int end) {
  const double step = static_cast<double>(from) / to;
  std::vector<int> indices;
  double at = step * 0.5;
  for (int i = 0; i < end; ++i, at += step)
    if (i >= begin) indices.push_back(std::min(static_cast<int>(at), from - 1));
  return indices;
}

std::vector<std::uint8_t> resize_nearest(const std::uint8_t* rgb, Size size, Size target,
                                         Region region) {
  const auto columns =
      nearest_indices(size.width, target.width, region.left, region.left + region.size.width);
  const auto rows =
      nearest_indices(size.height, target.height, region.top, region.top + region.size.height);
  std::vector<std::uint8_t> out(columns.size() * rows.size() * 3);
  std::uint8_t* to = out.data();
  for (const int row : rows)
    for (const int column : columns) {
      std::memcpy(to, rgb + (static_cast<std::size_t>(row) * size.width + column) * 3, 3);
      to += 3;
    }
  return out;
}

void check(Size size, Size target, Region region) {
  if (size.width <= 0 || size.height <= 0 || target.width <= 0 || target.height <= 0 ||
      region.size.width <= 0 || region.size.height <= 0)
    throw InternalError("resize: a size that is not positive");
  if (region.left < 0 || region.top < 0 || region.left + region.size.width > target.width ||
      region.top + region.size.height > target.height)
    throw InternalError("resize: the region sticks out of the target");
}

}  // namespace

const char* resize_isa() { return use_avx2() ? "avx2" : "baseline"; }

std::vector<std::uint8_t> resize(const std::uint8_t* rgb, Size size, Size target, Filter filter) {
  return resize_region(rgb, size, target, filter, {0, 0, target});
}

std::vector<std::uint8_t> resize_region(const std::uint8_t* rgb, Size size, Size target,
                                        Filter filter, Region region) {
  check(size, target, region);
  if (filter == Filter::nearest) return resize_nearest(rgb, size, target, region);
  if (size == target) return cut_out(rgb, size, region);

  const int right = region.left + region.size.width;
  const int bottom = region.top + region.size.height;
  const std::size_t stride = static_cast<std::size_t>(size.width) * 3;
  Coefficients across;
  Coefficients down;
  Range columns{region.left, right};  // what is needed of the input
  Range rows{region.top, bottom};
  const bool change_width = target.width != size.width;
  const bool change_height = target.height != size.height;
  if (change_width) {
    across = resample_coefficients(size.width, target.width, region.left, right, filter);
    columns = rebase(across);
  }
  if (change_height) {
    down = resample_coefficients(size.height, target.height, region.top, bottom, filter);
    rows = rebase(down);
  }
  const std::size_t begin = rows.first * stride + static_cast<std::size_t>(columns.first) * 3;
  const std::size_t readable = size.height * stride - begin;
  const std::size_t length = static_cast<std::size_t>(columns.last - columns.first) * 3;
  const int count = rows.last - rows.first;
  if (!change_height) return resize_rows(across, rgb + begin, stride, readable, count);
  if (!change_width) return resize_columns(down, rgb + begin, stride, length);
  if (rows_first(size, target)) {
    const auto narrow = resize_rows(across, rgb + begin, stride, readable, count);
    const std::size_t row = across.first.size() * 3;
    return resize_columns(down, narrow.data(), row, row);
  }
  const auto flat = resize_columns(down, rgb + begin, stride, length);
  return resize_rows(across, flat.data(), length, flat.size(), region.size.height);
}

}  // namespace vitascope::image
