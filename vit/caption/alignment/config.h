#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// \file
/// Which attention a decoder has.
namespace vitascope::caption {

/// How well a query and an annotation go together.
enum class Score { additive, dot, general, concat, scaled_dot, multi_head };

/// Which annotations a query sees (Luong et al. 2015, arXiv:1508.04025, sections 3.1 and 3.2).
enum class Reach {
  global,       ///< all
  local_m,      ///< those around the place whose number is the step
  local_p,      ///< those around a predicted place of the sequence
  local_p_grid  ///< those around a predicted row and column of the grid
};

/// "additive", "dot", "general", "concat", "scaled_dot", "multi_head".
const char* score_name(Score score);
/// "global", "local_m", "local_p", "local_p_grid".
const char* reach_name(Reach reach);
/// Nothing when there is none of that name.
std::optional<Score> score_named(std::string_view name);
/// Nothing when there is none of that name.
std::optional<Reach> reach_named(std::string_view name);
/// All names with commas between them, for messages.
std::string score_names();
std::string reach_names();

/// Sizes and kinds.
struct AlignmentConfig {
  Score score = Score::additive;
  Reach reach = Reach::global;
  double half_width = 2;                ///< D of a local window: places on each side of its centre
  std::int64_t query_width = 512;       ///< Dq
  std::int64_t annotation_width = 512;  ///< Da
  std::int64_t width = 512;             ///< A, of the layer where both meet; of all heads together
  std::int64_t heads = 8;               ///< of multi_head; divides width
  bool operator==(const AlignmentConfig&) const = default;
};

/// Width of the context: that of the annotations, or of the heads together.
std::int64_t context_width(const AlignmentConfig& config);

/// \throws UsageError when the numbers don't fit together: says which, and what to choose
void validate(const AlignmentConfig& config);

}  // namespace vitascope::caption
