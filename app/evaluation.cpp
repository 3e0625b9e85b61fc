#include "app/evaluation.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "vit/error.h"
#include "vit/metrics/multi_label.h"

namespace vitascope::app {
namespace {

using metrics::ClassCounts;
using metrics::ConfusionMatrix;
using metrics::Labels;
using metrics::Scores;
using Indices = std::span<const std::int64_t>;

std::vector<std::int64_t> predictions_of(const Scores& scores) {
  std::vector<std::int64_t> predictions;
  predictions.reserve(static_cast<std::size_t>(scores.samples()));
  for (std::int64_t i = 0; i < scores.samples(); ++i)
    predictions.push_back(metrics::top_class(scores.row(i)));
  return predictions;
}

/// A figure with its interval, where intervals are wanted.
Figure with_interval(std::string key, std::string title, std::int64_t count,
                     const metrics::Statistic& statistic,
                     const metrics::BootstrapOptions& options) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  Figure figure{std::move(key), std::move(title), statistic(all), std::nullopt};
  if (options.resamples > 0) figure.interval = metrics::bootstrap(count, statistic, options);
  return figure;
}

/// The share of photos whose rank is below k, of any selection.
metrics::Statistic top_k(const std::vector<std::int64_t>& ranks, std::int64_t k) {
  return [&ranks, k](Indices indices) {
    const auto right = std::ranges::count_if(
        indices, [&](std::int64_t i) { return ranks[static_cast<std::size_t>(i)] < k; });
    return static_cast<double>(right) / static_cast<double>(indices.size());
  };
}

void add_averages(const std::vector<ClassCounts>& counts, std::vector<Figure>& figures) {
  const metrics::Averages averages = metrics::averages_of(counts);
  const auto add = [&](const char* key, const char* title, const metrics::Rates& rates) {
    const std::string prefix = std::string(key) + "_";
    const std::string suffix = std::string(", ") + title;
    figures.push_back({prefix + "precision", "precision" + suffix, rates.precision, {}});
    figures.push_back({prefix + "recall", "recall" + suffix, rates.recall, {}});
    figures.push_back({prefix + "f1", "F1" + suffix, rates.f1, {}});
  };
  add("macro", "mean of classes", averages.macro_present);
  add("weighted", "weighted by photos", averages.weighted);
}

/// The classes that occur, as truth or as prediction.
std::vector<ClassFigures> occurring(const std::vector<ClassCounts>& counts) {
  std::vector<ClassFigures> classes;
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (counts[c].support + counts[c].predicted > 0)
      classes.push_back({static_cast<std::int64_t>(c), counts[c], std::nullopt});
  return classes;
}

/// Of a selection of photos: the confusion matrix's figure.
template <typename Read>
metrics::Statistic of_confusion(std::int64_t classes, Labels labels, Labels predictions,
                                Read read) {
  return [=](Indices indices) {
    std::vector<ClassCounts> counts(static_cast<std::size_t>(classes));
    for (const std::int64_t index : indices) {
      const auto i = static_cast<std::size_t>(index);
      ClassCounts& truth = counts[static_cast<std::size_t>(labels[i])];
      ++truth.support;
      ++counts[static_cast<std::size_t>(predictions[i])].predicted;
      truth.right += labels[i] == predictions[i] ? 1 : 0;
    }
    return read(metrics::averages_of(counts));
  };
}

void add_calibration(const Answers& answers, Labels labels, const Scores& probabilities,
                     const EvaluationOptions& options, Evaluation& result) {
  result.reliability = metrics::reliability_bins(probabilities, labels, options.bins);
  std::vector<Figure>& figures = result.figures;
  figures.push_back({"ece",
                     "expected calibration error",
                     metrics::expected_calibration_error(result.reliability),
                     {}});
  figures.push_back({"mce",
                     "largest calibration error",
                     metrics::maximum_calibration_error(result.reliability),
                     {}});
  figures.push_back({"nll",
                     "negative log-likelihood",
                     metrics::negative_log_likelihood(probabilities, labels),
                     {}});
  figures.push_back({"brier", "Brier score", metrics::brier_score(probabilities, labels), {}});
  if (!options.fit_temperature || answers.sigmoid) return;
  const Scores logits(answers.logits, answers.classes());
  const double temperature = metrics::fit_temperature(logits, labels);
  const std::vector<double> values = metrics::softmax(logits, temperature);
  const Scores scaled(values, answers.classes());
  const auto bins = metrics::reliability_bins(scaled, labels, options.bins);
  figures.push_back({"temperature", "temperature fitted to these photos", temperature, {}});
  figures.push_back({"nll_at_temperature",
                     "negative log-likelihood at it",
                     metrics::negative_log_likelihood(scaled, labels),
                     {}});
  figures.push_back({"ece_at_temperature",
                     "expected calibration error at it",
                     metrics::expected_calibration_error(bins),
                     {}});
}

std::vector<Mistake> mistakes_of(Labels labels, Labels predictions, const Scores& probabilities,
                                 std::size_t most) {
  std::vector<Mistake> mistakes;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == predictions[i]) continue;
    const std::span<const double> row = probabilities.row(static_cast<std::int64_t>(i));
    mistakes.push_back({i, labels[i], predictions[i], row[static_cast<std::size_t>(predictions[i])],
                        row[static_cast<std::size_t>(labels[i])]});
  }
  std::ranges::stable_sort(mistakes, std::ranges::greater(), &Mistake::probability);
  mistakes.resize(std::min(most, mistakes.size()));
  return mistakes;
}

Evaluation evaluate_single(const Answers& answers, const EvaluationOptions& options) {
  const std::vector<double> values = probabilities_of(answers);
  const Scores probabilities(values, answers.classes());
  // Of logits, because probabilities may be rounded to equal ones.
  const Scores logits(answers.logits, answers.classes());
  const std::vector<std::int64_t> labels = answers.single_labels();
  const std::vector<std::int64_t> ranks = metrics::label_ranks(logits, labels);
  const std::vector<std::int64_t> predictions = predictions_of(logits);
  const std::int64_t photos = logits.samples();
  Evaluation result;
  result.confusion.emplace(logits, labels);
  const auto add = [&](const char* key, const char* title, const metrics::Statistic& statistic) {
    result.figures.push_back(with_interval(key, title, photos, statistic, options.bootstrap));
  };
  const std::vector<ClassCounts> counts = result.confusion->per_class();
  add("top1", "top-1 accuracy", top_k(ranks, 1));
  add("top5", "top-5 accuracy", top_k(ranks, 5));
  add("balanced_accuracy", "balanced accuracy",
      of_confusion(answers.classes(), labels, predictions, [](const metrics::Averages& averages) {
        return averages.macro_present.recall;
      }));
  add_averages(counts, result.figures);
  const auto f1 = std::ranges::find(result.figures, "macro_f1", &Figure::key);
  if (options.bootstrap.resamples > 0) {
    f1->interval = metrics::bootstrap(
        photos,
        of_confusion(answers.classes(), labels, predictions,
                     [](const metrics::Averages& averages) { return averages.macro_present.f1; }),
        options.bootstrap);
  }
  add_calibration(answers, labels, probabilities, options, result);
  result.classes = occurring(counts);
  result.mistakes = mistakes_of(labels, predictions, probabilities, options.mistakes);
  return result;
}

Evaluation evaluate_multi(const Answers& answers, const EvaluationOptions& options) {
  const std::vector<double> values = probabilities_of(answers);
  const Scores probabilities(values, answers.classes());
  const auto precisions = metrics::average_precisions(probabilities, answers.truth);
  const std::vector<ClassCounts> counts =
      metrics::count_above(probabilities, answers.truth, options.threshold);
  Evaluation result;
  if (const auto mean = metrics::mean_average_precision(precisions))
    result.figures.push_back({"map", "mean average precision", *mean, {}});
  const metrics::Rates micro = metrics::micro_average(counts);
  result.figures.push_back({"micro_precision", "precision, all answers", micro.precision, {}});
  result.figures.push_back({"micro_recall", "recall, all answers", micro.recall, {}});
  result.figures.push_back({"micro_f1", "F1, all answers", micro.f1, {}});
  const auto shown = [](const ClassCounts& one) { return one.support > 0; };
  if (std::ranges::any_of(counts, shown)) add_averages(counts, result.figures);
  result.classes = occurring(counts);
  for (ClassFigures& one : result.classes)
    one.average_precision = precisions[static_cast<std::size_t>(one.index)];
  return result;
}

/// Which photos a model has right, by index in the data set.
std::vector<std::int64_t> right_ones(const Answers& answers) {
  const std::vector<std::int64_t> predictions =
      predictions_of(Scores(answers.logits, answers.classes()));
  std::vector<std::int64_t> right(predictions.size());
  for (std::size_t i = 0; i < right.size(); ++i)
    right[i] = predictions[i] == answers.truth[i].front() ? 1 : 0;
  return right;
}

double mean(const std::vector<std::int64_t>& values) {
  const auto sum = static_cast<double>(std::ranges::count(values, 1));
  return sum / static_cast<double>(values.size());
}

}  // namespace

std::vector<std::int64_t> Answers::single_labels() const {
  std::vector<std::int64_t> all;
  all.reserve(truth.size());
  for (const auto& of_photo : truth) all.push_back(of_photo.front());
  return all;
}

std::vector<double> probabilities_of(const Answers& answers) {
  if (!answers.sigmoid) return metrics::softmax(Scores(answers.logits, answers.classes()));
  std::vector<double> values = answers.logits;
  for (double& value : values) value = 1 / (1 + std::exp(-value));
  return values;
}

Evaluation evaluate(const Answers& answers, const EvaluationOptions& options) {
  return answers.multi_label ? evaluate_multi(answers, options) : evaluate_single(answers, options);
}

Comparison compare(const Answers& first, const Answers& second,
                   const metrics::BootstrapOptions& options) {
  const std::vector<std::int64_t> first_right = right_ones(first);
  const std::vector<std::int64_t> second_right = right_ones(second);
  // Each may have failed on photos of its own; both lists ascend.
  std::vector<std::int64_t> a;
  std::vector<std::int64_t> b;
  for (std::size_t i = 0; i < first.samples.size(); ++i) {
    const auto same = std::ranges::lower_bound(second.samples, first.samples[i]);
    if (same == second.samples.end() || *same != first.samples[i]) continue;
    a.push_back(first_right[i]);
    b.push_back(second_right[static_cast<std::size_t>(same - second.samples.begin())]);
  }
  if (a.empty()) throw UsageError("no photo was answered by both models");
  Comparison result;
  result.model = second.model;
  result.photos = static_cast<std::int64_t>(a.size());
  result.first_top1 = mean(a);
  result.second_top1 = mean(b);
  // "Right" is the class that every photo should have.
  result.split = metrics::discordance(a, b, std::vector<std::int64_t>(a.size(), 1));
  result.exact = metrics::mcnemar_exact(result.split);
  result.corrected = metrics::mcnemar_corrected(result.split);
  if (options.resamples == 0) return result;
  std::vector<double> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = static_cast<double>(b[i] - a[i]);
  result.difference = metrics::bootstrap_mean(difference, options);
  return result;
}

}  // namespace vitascope::app
