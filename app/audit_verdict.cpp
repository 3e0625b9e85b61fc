#include "app/audit_verdict.h"

#include <fmt/format.h>

#include <cmath>

#include "app/figures_text.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

using explain::Figure;
using explain::find_figure;

/// From this distance of answers on, the weights are said to matter; below, the same answer would
/// have come from others.
constexpr double kMoved = 0.1;
/// From this rank correlation on, two maps are said to be nearly the same.
constexpr double kSame = 0.7;
/// The largest Jensen-Shannon divergence, ln 2.
constexpr double kFarthest = 0.693;

Figure negated(Figure figure) {
  figure.value = -figure.value;
  if (figure.interval) figure.interval = {-figure.interval->high, -figure.interval->low};
  return figure;
}

std::string subject(const AuditFigures& audit) {
  return audit.photos == 1 ? "For this photo" : fmt::format("Over {} photos", audit.photos);
}

std::string faithfulness_sentence(const AuditFigures& audit, const AuditedMapFigures& map,
                                  int random_maps) {
  const auto gain = find_figure(map.figures, "deletion_over_random");
  if (!gain) return "";
  const std::string compared =
      audit.photos == 1 ? fmt::format("{} random map{}", random_maps, random_maps == 1 ? "" : "s")
                        : "random maps";
  const std::string start = fmt::format("{} {}", subject(audit), printable(map.label));
  const double surely = gain->interval ? gain->interval->low : gain->value;
  const double at_best = gain->interval ? gain->interval->high : gain->value;
  if (surely > 0) {
    return fmt::format(
        "{} beats {} on deletion by {}: taking away what it marks costs the class more than chance "
        "does.",
        start, compared, with_interval(*gain));
  }
  if (at_best < 0) {
    return fmt::format(
        "{} does worse than {} on deletion, by {}: the answer does not rest on what it marks.",
        start, compared, with_interval(negated(*gain)));
  }
  return fmt::format(
      "{} can't be told from {} on deletion: {}. Do not read it as what the answer rests on.",
      start, compared, with_interval(*gain));
}

std::string weights_sentence(const AuditFigures& audit) {
  const auto permuted = find_figure(audit.weights, "permutation_distance");
  if (!permuted) return "";
  std::string text = fmt::format(
      "Shuffling the last layer's attention weights moves the answer by "
      "{}{}",
      permuted->value < kMoved ? "only " : "", with_interval(*permuted));
  const auto flips = find_figure(audit.weights, "permutation_flips");
  if (flips)
    text += fmt::format(", and the predicted class in {:.0f}% of shuffles", 100 * flips->value);
  if (const auto adversary = find_figure(audit.weights, "adversary_divergence")) {
    const auto moved = find_figure(audit.weights, "adversary_distance");
    text += fmt::format("; other weights, {} apart of at most {}, give the same answer within {}",
                        short_number(adversary->value), short_number(kFarthest),
                        short_number(moved->value));
  }
  return text + (permuted->value < kMoved
                     ? ": read attention as where information could flow, not why."
                     : ": the answer depends on them.");
}

std::string model_sentence(const AuditedMapFigures& map) {
  const auto untrained = find_figure(map.figures, "untrained");
  if (!untrained) return "";
  return fmt::format("The map of a model that forgot everything correlates {} with it: {}.",
                     with_interval(*untrained),
                     std::abs(untrained->value) < kSame ? "it does show what was learned"
                                                        : "it shows the photo more than the model");
}

std::string class_sentence(const AuditedMapFigures& map) {
  const auto other = find_figure(map.figures, "other_class");
  if (!map.tells_classes) return "It is the same map whatever the class.";
  if (!other) return "";
  return fmt::format(
      "The map of the next likeliest class correlates {} with it: {}.", with_interval(*other),
      other->value < kSame ? "it tells classes apart" : "it hardly tells classes apart");
}

std::string checkpoints_sentence(const AuditedMapFigures& map) {
  const auto agreement = find_figure(map.figures, "checkpoints");
  if (!agreement) return "";
  return fmt::format(
      "Maps of the other models correlate {} with it: {}.", with_interval(*agreement),
      agreement->value < kSame ? "it depends on the checkpoint" : "they agree on it");
}

std::string pointing_sentence(const AuditFigures& audit, const AuditedMapFigures& map) {
  const auto hit = find_figure(map.figures, "pointing");
  const auto energy = find_figure(map.figures, "energy");
  if (!hit || !energy) return "";
  const auto chance = find_figure(audit.random, "energy");
  const std::string compared =
      chance ? fmt::format(" (of random maps {})", short_number(chance->value)) : "";
  if (audit.photos == 1) {
    return fmt::format("Its peak {} the object, which holds {} of it{}.",
                       hit->value > 0 ? "lies on" : "misses", short_number(energy->value),
                       compared);
  }
  return fmt::format("Its peak lies on the object in {} of photos; {} of it lies there{}.",
                     with_interval(*hit), with_interval(*energy), compared);
}

}  // namespace

std::vector<std::string> verdict(const AuditFigures& audit, int random_maps) {
  if (audit.maps.empty()) return {};
  const AuditedMapFigures& map = audit.maps.front();
  std::vector<std::string> sentences;
  for (std::string& sentence :
       std::vector{faithfulness_sentence(audit, map, random_maps), weights_sentence(audit),
                   model_sentence(map), class_sentence(map), checkpoints_sentence(map),
                   pointing_sentence(audit, map)}) {
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  }
  return sentences;
}

}  // namespace vitascope::app
