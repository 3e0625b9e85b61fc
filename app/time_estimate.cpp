#include "app/time_estimate.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/progress.h"

namespace vitascope::app {
namespace {

std::string rate_text(double rate) {
  return rate < 1 ? fmt::format("{:.1f} s a photo", 1 / rate)
                  : fmt::format("{:.1f} photos/s", rate);
}

}  // namespace

TimeEstimate::TimeEstimate(const RunSize& size, std::int64_t epochs, std::int64_t photos)
    : size_(size), epochs_(epochs), photos_(std::min(photos, size.photos)) {}

void TimeEstimate::trained(std::int64_t photos, double seconds) {
  photos_ = std::min(photos_ + photos, size_.photos);
  if (!first_) {
    first_ = {photos, seconds};
    return;
  }
  training_.count += photos;
  training_.seconds += seconds;
}

void TimeEstimate::ended_epoch(double seconds) {
  ++epochs_;
  photos_ = 0;
  ++ends_.count;
  ends_.seconds += seconds;
}

std::optional<double> TimeEstimate::rate() const {
  if (!first_) return std::nullopt;
  const Measured& measured = training_.count > 0 ? training_ : *first_;
  return static_cast<double>(std::max<std::int64_t>(measured.count, 1)) /
         std::max(measured.seconds, 1e-9);
}

std::optional<double> TimeEstimate::left() const {
  const std::optional<double> photos_a_second = rate();
  if (!photos_a_second) return std::nullopt;
  const double end = ends_.count > 0
                         ? ends_.seconds / static_cast<double>(ends_.count)
                         : static_cast<double>(size_.validation) / (3 * *photos_a_second);
  return static_cast<double>(total() - done()) / *photos_a_second +
         static_cast<double>(size_.epochs - epochs_) * end;
}

std::string TimeEstimate::text() const {
  std::string text = fmt::format("epoch {}/{}, {}/{} photos", std::min(epochs_ + 1, size_.epochs),
                                 size_.epochs, photos_, size_.photos);
  if (const auto speed = rate()) {
    text += fmt::format(", {}, {} left", rate_text(*speed), duration_text(*left()));
  }
  return text;
}

std::string TimeEstimate::first_estimate() const {
  const std::int64_t epochs = size_.epochs - epochs_;
  return fmt::format("about {} for {} epoch{}, at {}", duration_text(left().value_or(0)), epochs,
                     epochs == 1 ? "" : "s", rate_text(rate().value_or(0)));
}

}  // namespace vitascope::app
