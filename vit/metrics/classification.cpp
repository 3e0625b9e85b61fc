#include "vit/metrics/classification.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace vitascope::metrics {
namespace {

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Adds up rates by weight.
class Mean {
 public:
  void add(const Rates& rates, double weight) {
    sum_.precision += weight * rates.precision;
    sum_.recall += weight * rates.recall;
    sum_.f1 += weight * rates.f1;
    total_ += weight;
  }
  Rates value() const { return {sum_.precision / total_, sum_.recall / total_, sum_.f1 / total_}; }

 private:
  Rates sum_;
  double total_ = 0;
};

}  // namespace

std::vector<std::int64_t> label_ranks(const Scores& scores, Labels labels) {
  require_labels(scores, labels);
  std::vector<std::int64_t> ranks(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::span<const double> row = scores.row(static_cast<std::int64_t>(i));
    const auto label = row.begin() + labels[i];
    ranks[i] = std::count_if(row.begin(), label, [&](double other) { return other >= *label; }) +
               std::count_if(label, row.end(), [&](double other) { return other > *label; });
  }
  return ranks;
}

double top_k_accuracy(std::span<const std::int64_t> ranks, std::int64_t k) {
  if (ranks.empty()) throw std::invalid_argument("accuracy of no samples: expected at least one");
  return share(std::ranges::count_if(ranks, [k](std::int64_t rank) { return rank < k; }),
               std::ssize(ranks));
}

Rates rates_of(const ClassCounts& counts) {
  return {.precision = share(counts.right, counts.predicted),
          .recall = share(counts.right, counts.support),
          .f1 = share(2 * counts.right, counts.predicted + counts.support)};
}

Averages averages_of(std::span<const ClassCounts> classes) {
  Mean macro;
  Mean present;
  Mean weighted;
  bool any = false;
  for (const ClassCounts& counts : classes) {
    const Rates rates = rates_of(counts);
    macro.add(rates, 1);
    if (counts.support == 0) continue;
    any = true;
    present.add(rates, 1);
    weighted.add(rates, static_cast<double>(counts.support));
  }
  if (!any) throw std::invalid_argument("averages of no samples: expected at least one");
  return {macro.value(), present.value(), weighted.value()};
}

ConfusionMatrix::ConfusionMatrix(std::int64_t classes)
    : classes_(classes), counts_(static_cast<std::size_t>(classes * classes)) {}

ConfusionMatrix::ConfusionMatrix(const Scores& scores, Labels labels)
    : ConfusionMatrix(scores.classes()) {
  require_labels(scores, labels);
  for (std::int64_t i = 0; i < scores.samples(); ++i) {
    add(labels[static_cast<std::size_t>(i)], top_class(scores.row(i)));
  }
}

void ConfusionMatrix::add(std::int64_t label, std::int64_t predicted, std::int64_t count) {
  if (std::min(label, predicted) < 0 || std::max(label, predicted) >= classes_) {
    throw std::invalid_argument(fmt::format("class {} predicted as {}: expected both below {}",
                                            label, predicted, classes_));
  }
  counts_[static_cast<std::size_t>(label * classes_ + predicted)] += count;
}

std::int64_t ConfusionMatrix::at(std::int64_t label, std::int64_t predicted) const {
  return counts_.at(static_cast<std::size_t>(label * classes_ + predicted));
}

std::vector<ClassCounts> ConfusionMatrix::per_class() const {
  std::vector<ClassCounts> result(static_cast<std::size_t>(classes_));
  for (std::int64_t label = 0; label < classes_; ++label) {
    for (std::int64_t predicted = 0; predicted < classes_; ++predicted) {
      result[static_cast<std::size_t>(label)].support += at(label, predicted);
      result[static_cast<std::size_t>(predicted)].predicted += at(label, predicted);
    }
    result[static_cast<std::size_t>(label)].right = at(label, label);
  }
  return result;
}

std::vector<Confusion> most_confused(const ConfusionMatrix& confusion, std::size_t most) {
  std::vector<Confusion> found;
  for (std::int64_t label = 0; label < confusion.classes(); ++label) {
    for (std::int64_t predicted = 0; predicted < confusion.classes(); ++predicted) {
      const std::int64_t count = confusion.at(label, predicted);
      if (label != predicted && count > 0) found.push_back({label, predicted, count});
    }
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &Confusion::count);
  found.resize(std::min(found.size(), most));
  return found;
}

double accuracy(const ConfusionMatrix& confusion) {
  // Recall weighted by support is right over all.
  return averages_of(confusion.per_class()).weighted.recall;
}

double balanced_accuracy(const ConfusionMatrix& confusion) {
  return averages_of(confusion.per_class()).macro_present.recall;
}

}  // namespace vitascope::metrics
