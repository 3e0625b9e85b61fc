#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstdint>
#include <memory>

/// \file
/// How much memory tensors take while something is computed.
namespace vitascope::train {

/// Counts what this thread allocates for tensors on the CPU, also in a backward pass, while it
/// lives. One at a time.
class AllocationPeak {
 public:
  AllocationPeak();

  /// The most bytes that were held at once, beyond those held before.
  std::int64_t bytes() const;

 private:
  class Count;
  std::shared_ptr<Count> count_;
  c10::DebugInfoGuard guard_;
};

}  // namespace vitascope::train
