#include "vit/train/allocation_peak.h"

#include <c10/core/Allocator.h>

#include <algorithm>
#include <atomic>

namespace vitascope::train {

/// LibTorch reports every allocation to whoever stands in the profiler's place.
class AllocationPeak::Count : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void* /*block*/, std::int64_t bytes, std::size_t /*allocated*/,
                         std::size_t /*reserved*/, c10::Device device) override {
    if (!device.is_cpu()) return;
    const std::int64_t now = held_.fetch_add(bytes) + bytes;
    std::int64_t most = peak_;
    while (now > most && !peak_.compare_exchange_weak(most, now)) {
    }
  }

  bool memoryProfilingEnabled() const override { return true; }

  std::int64_t peak() const { return peak_; }

 private:
  std::atomic<std::int64_t> held_ = 0, peak_ = 0;
};

AllocationPeak::AllocationPeak()
    : count_(std::make_shared<Count>()), guard_(c10::DebugInfoKind::PROFILER_STATE, count_) {}

std::int64_t AllocationPeak::bytes() const { return count_->peak(); }

}  // namespace vitascope::train
