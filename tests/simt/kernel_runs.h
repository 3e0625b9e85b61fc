#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/attention.cuh"
#include "tests/simt/golden_case.h"

/// \file
/// Runs the kernels on a case. All throw std::runtime_error where no kernel serves it.
namespace simt {

/// How a case is laid out for a kernel.
struct Layout {
  std::size_t misalignment = 0;  ///< bytes that rows lie behind a multiple of 16
  bool lengths_as_mask = false;  ///< say key_lengths by a mask
  /// Dynamic shared memory of a block: as on sm_89 and sm_120, which have the least.
  std::int64_t shared_bytes = 99 * 1024;
};

/// In the order [B, H, N, D].
struct ForwardResult {
  std::vector<float> out, lse;
  std::string kernel;  ///< the name of the one that ran
};
ForwardResult run_forward(const GoldenCase& golden, Element element, const Layout& layout = {});

/// In the order [B, H, N, D].
struct Gradients {
  std::vector<float> dq, dk, dv;
};
/// From the case's own out and lse.
Gradients run_backward(const GoldenCase& golden, Element element, const Layout& layout = {});

/// The kernel that run_backward takes.
vitascope::kernels::cuda::Choice backward_choice(const GoldenCase& golden, Element element,
                                                 const Layout& layout = {});

/// The map [B, H or 1, R, Nk] of queries 0 .. R - 1.
std::vector<float> run_map(const GoldenCase& golden, Element element, std::int64_t row_count,
                           bool head_mean, const Layout& layout = {});

/// The gradient of the map [B, H, R, Nk] of the queries of `rows`.
std::vector<float> run_map_gradient(const GoldenCase& golden, Element element,
                                    const std::vector<std::int64_t>& rows);

}  // namespace simt
