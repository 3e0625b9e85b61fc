#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vit/train/process_watch.h"

/// \file
/// Processes that train one model together: sums over all of them, by Gloo through c10d.
namespace vitascope::train {

/// A sum that is under way.
class PendingSum {
 public:
  struct Work;
  explicit PendingSum(std::unique_ptr<Work> work);
  ~PendingSum();
  PendingSum(PendingSum&&) noexcept;

  /// Returns when the tensor holds the sum. \throws FailureError when the connection broke
  void wait();

 private:
  std::unique_ptr<Work> work_;
};

/// All processes call the same functions in the same order, with tensors of the same shapes, and
/// get the same bits.
class ProcessGroup {
 public:
  /// Meets the others: returns when all are there.
  /// \param on_lost \see ProcessWatch
  /// \throws UsageError when they can't meet
  ProcessGroup(const StorePlace& place, Seat seat, std::function<void(const std::string&)> on_lost);
  ~ProcessGroup();

  Seat seat() const { return seat_; }
  bool first() const { return seat_.first(); }

  /// Begins to sum a contiguous tensor of the CPU, in place.
  PendingSum begin_sum(const at::Tensor& tensor);
  /// Sums in place, wherever the tensor is.
  void sum(const at::Tensor& tensor);
  void sum(std::span<double> numbers);
  /// The rows of all processes, those of the first one first.
  at::Tensor gathered(const at::Tensor& rows);
  /// Gives everyone what the first process has, in place.
  void broadcast(const at::Tensor& tensor);
  std::string broadcast(const std::string& text);

  /// Tells the others that this process can't go on, and why.
  void fail(const std::string& reason) { watch_->fail(reason); }

 private:
  struct Gloo;

  Seat seat_;
  std::unique_ptr<ProcessStore> store_;
  std::shared_ptr<ProcessWatch> watch_;
  std::unique_ptr<Gloo> gloo_;
};

/// What a process takes of a batch that all share.
struct BatchPart {
  std::int64_t begin = 0, size = 0;
  std::int64_t total = 0;  ///< of all processes
};

/// \param sizes of this process's parts of some batches
/// \param group null: nobody else takes part
std::vector<BatchPart> parts_of(std::span<const std::int64_t> sizes, ProcessGroup* group);

}  // namespace vitascope::train
