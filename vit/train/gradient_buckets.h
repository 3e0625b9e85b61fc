#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vit/train/optimizer.h"
#include "vit/train/process_group.h"

/// \file
/// Gradients summed over processes while the backward pass still runs.
namespace vitascope::train {

/// The backward pass reaches the last parameters first, so buckets are filled from the last one on
/// and summed one after the other as they are full (Li et al. 2020, arXiv:2006.15704). Which
/// parameter is in which bucket, and the order of the sums, depend on the parameters alone.
class GradientBuckets {
 public:
  /// \param group outlives this
  /// \param bytes of float32 in a bucket, more only for a larger parameter
  GradientBuckets(std::span<const Parameter> parameters, ProcessGroup& group,
                  std::int64_t bytes = 25 << 20);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  std::int64_t count() const { return std::ssize(buckets_); }

  /// Before the backward pass that completes the gradients of a step.
  void begin();
  /// After it, or where this process has none to make: every parameter that got a gradient in any
  /// process has the sum of all.
  /// \throws FailureError when the connection broke
  void finish();

 private:
  struct Hook;
  /// A parameter's place.
  struct Place {
    std::size_t bucket = 0;
    std::int64_t offset = 0;  ///< in the bucket
    std::int64_t flag = 0;    ///< where the bucket says how many processes have a gradient
    bool arrived = false;
  };
  struct Bucket {
    at::Tensor values;  ///< float32: gradients, then the flags
    std::int64_t missing = 0, members = 0;
  };

  void arrive(std::size_t parameter);
  void begin_sums();
  void write_back(std::size_t parameter);

  std::vector<at::Tensor> parameters_;
  ProcessGroup& group_;
  std::vector<Place> places_;
  std::vector<Bucket> buckets_;
  std::vector<PendingSum> sums_;
  bool active_ = false;
};

}  // namespace vitascope::train
