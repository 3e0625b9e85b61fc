#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "app/options.h"
#include "datasets/loader.h"
#include "vit/error.h"

/// \file
/// The loop over photos that every command has: decoded ahead, in batches, in order.
namespace vitascope::app {

/// What is done with photos.
struct PhotoLoop {
  /// Computes what a batch needs. A photo whose `prepared` it takes away counts as failed.
  std::function<void(std::vector<datasets::Item>& batch)> compute;
  /// Uses one that is prepared. \param position in the batch
  std::function<void(const datasets::Item&, std::size_t position)> use;
  /// A photo that failed, after it was reported.
  std::function<void(const datasets::Item&, const InputError&)> failed = {};
  /// After the photos of each batch.
  std::function<void()> batch_done = {};
};

/// How a run ended.
struct RunReport {
  std::size_t done = 0;
  int failed = 0;
  bool interrupted = false;

  /// 0, 1 (some failed) or 130 (interrupted).
  int exit_status() const;
};

/// How photos are decoded ahead. \param on_gpu whether what computes leaves the cores to it
datasets::LoaderOptions loader_options(const RunOptions& run, const PhotoOptions& options,
                                       bool on_gpu);

/// Runs all photos of a loader, without gradients. A photo that fails, or for which `use` throws
/// InputError, is reported on stderr, counted and skipped. SIGINT and SIGTERM end the run after the
/// batch in hand.
/// \param count  of photos that the loader gives
/// \param failed inputs that failed before, for the report
RunReport run_loop(datasets::Loader& loader, std::size_t count, const RunOptions& run, int failed,
                   const PhotoLoop& loop);

}  // namespace vitascope::app
