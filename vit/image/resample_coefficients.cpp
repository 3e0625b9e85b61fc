#include "vit/image/resample_coefficients.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "vit/error.h"

namespace vitascope::image {
namespace {

double sinc(double x) {
  if (x == 0.0) return 1.0;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

double box(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }

double bilinear(double x) {
  x = std::abs(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

double hamming(double x) {
  x = std::abs(x);
  if (x == 0.0) return 1.0;
  if (x >= 1.0) return 0.0;
  x *= std::numbers::pi;
  return std::sin(x) / x * (0.54f + 0.46f * std::cos(x));
}

/// Keys' cubic (1981), a = -0.5.
double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
  return 0.0;
}

double lanczos(double x) { return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0; }

struct Kernel {
  double (*weight)(double);
  double support;
};

Kernel kernel_of(Filter filter) {
  switch (filter) {
    case Filter::lanczos:
      return {lanczos, 3.0};
    case Filter::bilinear:
      return {bilinear, 1.0};
    case Filter::bicubic:
      return {bicubic, 2.0};
    case Filter::box:
      return {box, 0.5};
    case Filter::hamming:
      return {hamming, 1.0};
    case Filter::nearest:
      break;
  }
  throw InternalError("the nearest filter has no weights");
}

std::int32_t fixed_point(double weight) {
  return static_cast<std::int32_t>((weight < 0 ? -0.5 : 0.5) + weight * (1 << kWeightBits));
}

}  // namespace

Coefficients resample_coefficients(int from, int to, int begin, int end, Filter filter) {
  const Kernel kernel = kernel_of(filter);
  const double scale = static_cast<double>(from) / to;
  const double filter_scale = std::max(scale, 1.0);
  const double support = kernel.support * filter_scale;
  const double inverse = 1.0 / filter_scale;

  Coefficients result;
  result.stride = (static_cast<int>(std::ceil(support)) * 2 + 1 + 3) / 4 * 4;
  result.first.resize(end - begin);
  result.count.resize(end - begin);
  result.weight.resize(static_cast<std::size_t>(end - begin) * result.stride);
  std::vector<double> weights(result.stride);
  for (int i = begin; i < end; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(static_cast<int>(std::floor(center - support + 0.5)), 0);
    const int count = std::min(static_cast<int>(std::floor(center + support + 0.5)), from) - first;
    double sum = 0.0;
    for (int k = 0; k < count; ++k) {
      weights[k] = kernel.weight((k + first - center + 0.5) * inverse);
      sum += weights[k];
    }
    std::int32_t* out = &result.weight[static_cast<std::size_t>(i - begin) * result.stride];
    for (int k = 0; k < count; ++k)
      out[k] = fixed_point(sum != 0.0 ? weights[k] / sum : weights[k]);
    result.first[i - begin] = first;
    result.count[i - begin] = count;
  }
  return result;
}

}  // namespace vitascope::image
