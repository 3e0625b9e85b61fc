#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// \file
/// How long a run of training still takes, from what has been measured of it.
namespace vitascope::app {

/// How much there is to do.
struct RunSize {
  std::int64_t epochs = 1;
  std::int64_t photos = 0;      ///< to learn from, in an epoch
  std::int64_t validation = 0;  ///< to validate with, after each
};

/// Adds up what was done and how long it took.
class TimeEstimate {
 public:
  /// \param epochs that are done already
  /// \param photos of the next epoch that are done already
  TimeEstimate(const RunSize& size, std::int64_t epochs, std::int64_t photos);

  /// Photos were learned from. The first time counts for speed only while there is no second one:
  /// memory and kernels are made ready in it.
  void trained(std::int64_t photos, double seconds);
  /// The epoch ended with validation and what was written, which took so long.
  void ended_epoch(double seconds);

  /// Something else took so long, as it does after each epoch.
  void paused(double seconds) { ends_.seconds += seconds; }

  /// Photos a second while learning; nothing before trained().
  std::optional<double> rate() const;
  /// Seconds to the end of the run. Until it was measured, validation is taken to need a third of
  /// the time of learning from as many photos: the forward pass alone. Nothing before trained().
  std::optional<double> left() const;
  /// Photos learned from, in all epochs.
  std::int64_t done() const { return epochs_ * size_.photos + photos_; }
  std::int64_t total() const { return size_.epochs * size_.photos; }

  /// "epoch 2/10, 160/1034 photos, 5.8 photos/s, 24 min left".
  std::string text() const;
  /// "about 26 min for 10 epochs, at 5.8 photos a second".
  std::string first_estimate() const;

 private:
  struct Measured {
    std::int64_t count = 0;
    double seconds = 0;
  };

  RunSize size_;
  std::int64_t epochs_, photos_;
  std::optional<Measured> first_{};
  Measured training_{}, ends_{};
};

}  // namespace vitascope::app
