#pragma once

#include "vit/explain/audit_figures.h"

namespace vitascope::tests {

/// A figure with its interval.
inline explain::Figure sure(double value, double low, double high) {
  explain::Figure figure;
  figure.value = value;
  figure.interval = metrics::Interval{low, high};
  return figure;
}

}  // namespace vitascope::tests
