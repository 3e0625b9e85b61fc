#pragma once

#include <optional>

#include "vit/explain/map.h"
#include "vit/explain/record.h"

/// \file
/// Attention as it is: where one token of one layer looks (Caron et al. 2021, arXiv:2104.14294).
namespace vitascope::explain {

/// How the heads of a layer become one matrix.
enum class HeadFusion { mean, max, min };

/// Whose attention.
struct Query {
  std::optional<int> layer{};            ///< from 0; nothing: the last
  std::optional<int> head{};             ///< nothing: all of them, fused
  HeadFusion fusion = HeadFusion::mean;  ///< of the heads
  std::optional<std::int64_t> patch{};   ///< row * columns + column; nothing: what the head reads
};

/// map_j = fuse_h sum_i w_i P_h[i, prefix + j], w the readout (for models with a class token: its
/// row), or one patch's row. Models that pool the mean of patches have no token that gathers what
/// the head reads; their map is the mean over the patches' rows: how much each patch is looked at.
/// \throws std::invalid_argument when there is no such layer, head or patch
Map attention_map(const Recorded& recorded, const Query& query = {}, std::int64_t picture = 0);

}  // namespace vitascope::explain
