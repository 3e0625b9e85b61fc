#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "app/options.h"
#include "datasets/labelled_images.h"
#include "vit/random_numbers.h"

/// \file
/// Networks that learn from nothing: the flags that describe one, and the network that they give.
namespace vitascope::app {

/// What the flags say; nothing: as for a compact vision transformer.
struct ScratchOptions {
  bool scratch = false;
  std::optional<int> width, depth, heads, patch;
  std::optional<double> mlp_ratio;
  std::string stem, positions, pooling;  ///< "" where not given
};

/// Declares all of them.
void add_scratch_options(CLI::App& command, ScratchOptions& options);

/// \throws UsageError when flags contradict each other
void check_scratch_options(const ScratchOptions& options, const ModelOptions& model);

/// A network of random weights for the classes of the data: the compact vision transformer that
/// the flags describe (after Hassani et al. 2021, arXiv:2104.05704), or the one of timm that
/// --architecture names.
/// \throws UsageError when it can't be built, or nothing says the size of its pictures
weights::Model scratch_model(const ScratchOptions& options, const ModelOptions& model,
                             const RunOptions& run, const datasets::LabelledImages& images,
                             RandomNumbers& random);

}  // namespace vitascope::app
