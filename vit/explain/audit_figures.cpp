#include "vit/explain/audit_figures.h"

#include "vit/explain/statistics.h"

namespace vitascope::explain {
namespace {

void put(Figures& figures, const char* key, const std::optional<double>& value) {
  if (value) figures[key].value = *value;
}

/// What one map has by itself.
Figures own_figures(const MapAudit& map) {
  Figures figures;
  if (map.faithfulness) {
    const Faithfulness& faithful = *map.faithfulness;
    put(figures, "deletion", faithful.deletion);
    put(figures, "insertion", faithful.insertion);
    put(figures, "relative_deletion", faithful.relative_deletion);
    put(figures, "relative_insertion", faithful.relative_insertion);
    put(figures, "symmetric_gain", faithful.symmetric_gain);
    put(figures, "positive_perturbation", faithful.positive_perturbation);
    put(figures, "negative_perturbation", faithful.negative_perturbation);
    put(figures, "comprehensiveness", faithful.comprehensiveness);
    put(figures, "sufficiency", faithful.sufficiency);
  }
  if (map.pointing) {
    put(figures, "pointing", map.pointing->hit ? 1.0 : 0.0);
    put(figures, "energy", map.pointing->energy);
    put(figures, "iou", map.pointing->iou);
  }
  put(figures, "other_class", map.other_class);
  if (!map.cascade.empty()) put(figures, "untrained", map.cascade.back().correlation);
  return figures;
}

Figure mean_with_interval(const std::vector<double>& values) {
  Figure figure{mean(values), {}, static_cast<std::int64_t>(values.size())};
  if (values.size() > 1) figure.interval = metrics::bootstrap_mean(values);
  return figure;
}

}  // namespace

const std::vector<FigureKind>& map_figure_kinds() {
  static const std::vector<FigureKind> kinds{
      {"deletion", "deletion", "the class's mean probability while patches go, the map's first",
       Better::lower},
      {"insertion", "insertion", "the same while they come, the map's first", Better::higher},
      {"deletion_over_random", "less than random", "deletion of random maps minus the map's",
       Better::higher},
      {"insertion_over_random", "more than random", "insertion of the map minus random maps'",
       Better::higher},
      {"relative_deletion", "rel. deletion",
       "deletion where 0 is the empty photo's probability and 1 the photo's", Better::lower},
      {"relative_insertion", "rel. insertion", "insertion on the same scale", Better::higher},
      {"symmetric_gain", "gain", "deletion with the map's least first, minus deletion",
       Better::higher},
      {"positive_perturbation", "positive", "how long the class leads while the map's first go",
       Better::lower},
      {"negative_perturbation", "negative", "how long it leads while the map's last go",
       Better::higher},
      {"comprehensiveness", "compreh.", "probability lost without the map's first", Better::higher},
      {"sufficiency", "sufficiency", "probability lost with the map's first alone", Better::lower},
      {"pointing", "hit", "the map's peak lies on the object", Better::higher},
      {"energy", "energy", "the part of the map that lies on the object", Better::higher},
      {"iou", "IoU", "overlap of the object and the map above its mean", Better::higher},
      {"other_class", "other class",
       "rank correlation with the map of the next likeliest class: near 1, it tells none apart",
       Better::lower},
      {"untrained", "untrained",
       "rank correlation with the map of a model that forgot everything: near 1, it shows the "
       "photo, not the model",
       Better::lower},
      {"checkpoints", "checkpoints", "rank correlation with the maps of the other models",
       Better::higher},
      {"seconds", "seconds", "that the map took", Better::lower}};
  return kinds;
}

const std::vector<FigureKind>& weight_figure_kinds() {
  static const std::vector<FigureKind> kinds{
      {"permutation_distance", "permuted",
       "how far the answer moves when weights are shuffled: the median total variation distance"},
      {"permutation_flips", "flipped", "the share of shuffles after which another class leads"},
      {"uniform_distance", "even", "how far the answer moves when all weights are equal"},
      {"adversary_divergence", "adversary",
       "how different weights can be for nearly the same answer: Jensen-Shannon, at most .693"},
      {"adversary_distance", "its answer", "how far that answer moved"},
      {"gradient_tau", "tau gradient",
       "Kendall's rank correlation of the weights with the gradient's importance of patches"},
      {"leave_one_out_tau", "tau leave-one-out",
       "Kendall's rank correlation with what leaving each patch out changes"}};
  return kinds;
}

std::optional<Figure> find_figure(const Figures& figures, std::string_view key) {
  const auto found = figures.find(key);
  return found == figures.end() ? std::nullopt : std::optional(found->second);
}

Figures figures_of(const MapAudit& map, const std::vector<MapAudit>& controls) {
  Figures figures = own_figures(map);
  if (!map.faithfulness) return figures;
  std::vector<double> deletion, insertion;
  for (const MapAudit& control : controls) {
    deletion.push_back(control.faithfulness->deletion - map.faithfulness->deletion);
    insertion.push_back(map.faithfulness->insertion - control.faithfulness->insertion);
  }
  if (controls.empty()) return figures;
  for (const auto& [key, values] :
       {std::pair("deletion_over_random", &deletion), {"insertion_over_random", &insertion}}) {
    Figure over_random = mean_with_interval(*values);
    over_random.photos = 1;
    figures[key] = over_random;
  }
  return figures;
}

Figures figures_of(const std::vector<MapAudit>& controls) {
  std::vector<Figures> all;
  all.reserve(controls.size());
  for (const MapAudit& control : controls) all.push_back(own_figures(control));
  Figures figures = mean_figures(all);
  for (auto& [key, figure] : figures) figure.photos = 1;
  return figures;
}

Figures figures_of(const WeightsAudit& weights) {
  Figures figures;
  put(figures, "permutation_distance", weights.permutations.median);
  put(figures, "permutation_flips", weights.permutations.flipped);
  put(figures, "uniform_distance", weights.uniform);
  put(figures, "adversary_divergence", weights.adversary.divergence);
  put(figures, "adversary_distance", weights.adversary.distance);
  put(figures, "gradient_tau", weights.tau_gradient);
  put(figures, "leave_one_out_tau", weights.tau_leave_one_out);
  return figures;
}

Figures mean_figures(const std::vector<Figures>& photos) {
  std::map<std::string_view, std::vector<double>> columns;
  for (const Figures& photo : photos) {
    for (const auto& [key, figure] : photo) columns[key].push_back(figure.value);
  }
  Figures means;
  for (const auto& [key, values] : columns) means.emplace(key, mean_with_interval(values));
  return means;
}

}  // namespace vitascope::explain
