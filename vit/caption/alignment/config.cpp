#include "vit/caption/alignment/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "vit/caption/kind_names.h"
#include "vit/error.h"

namespace vitascope::caption {
namespace {

constexpr std::array kScores{"additive", "dot", "general", "concat", "scaled_dot", "multi_head"};
constexpr std::array kReaches{"global", "local_m", "local_p", "local_p_grid"};

}  // namespace

const char* score_name(Score score) { return name_of(kScores, score); }
const char* reach_name(Reach reach) { return name_of(kReaches, reach); }

std::optional<Score> score_named(std::string_view name) { return kind_named<Score>(kScores, name); }
std::optional<Reach> reach_named(std::string_view name) {
  return kind_named<Reach>(kReaches, name);
}

std::string score_names() { return fmt::format("{}", fmt::join(kScores, ", ")); }
std::string reach_names() { return fmt::format("{}", fmt::join(kReaches, ", ")); }

std::int64_t context_width(const AlignmentConfig& config) {
  return config.score == Score::multi_head ? config.width : config.annotation_width;
}

void validate(const AlignmentConfig& config) {
  const auto positive = [](const char* what, std::int64_t number) {
    if (number < 1) throw UsageError(fmt::format("{} is {}: expected 1 or more", what, number));
  };
  positive("the query's width", config.query_width);
  positive("the annotations' width", config.annotation_width);
  positive("the attention's width", config.width);
  if (config.score == Score::dot && config.query_width != config.annotation_width) {
    throw UsageError(
        fmt::format("attention 'dot' multiplies query and annotation place by place, but they are "
                    "{} and {} wide: make the decoder as wide as the annotations, or choose "
                    "'general'",
                    config.query_width, config.annotation_width));
  }
  if (config.score == Score::multi_head && (config.heads < 1 || config.width % config.heads != 0)) {
    throw UsageError(
        fmt::format("an attention {} wide cannot be split over {} heads: expected a "
                    "number of heads that divides it",
                    config.width, config.heads));
  }
  if (config.reach != Reach::global &&
      !(config.half_width > 0 && std::isfinite(config.half_width))) {
    throw UsageError(fmt::format(
        "half the width of an attention window is {}: expected more than 0", config.half_width));
  }
}

}  // namespace vitascope::caption
