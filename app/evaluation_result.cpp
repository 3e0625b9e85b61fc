#include "app/evaluation_result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "app/output.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

/// Wider matrices are read in the CSV file or in the picture.
constexpr std::size_t kWidestMatrix = 24;
constexpr std::size_t kConfusionsShown = 10;

std::string padded(const std::string& text, int width) {
  const int padding = std::max(0, width - output::display_width(text));
  return text + std::string(static_cast<std::size_t>(padding), ' ');
}

int widest(const std::vector<std::string>& texts, int least) {
  for (const std::string& text : texts) least = std::max(least, output::display_width(text));
  return least;
}

std::string figures_text(const EvaluationResult& result) {
  std::string text;
  const auto level = result.subject.bootstrap.level * 100;
  for (const Figure& figure : result.evaluation.figures) {
    text += fmt::format("  {:<34} {:>8.4f}", figure.title, figure.value);
    if (figure.interval)
      text += fmt::format("   {:.4g}%: {:.4f} to {:.4f}", level, figure.interval->low,
                          figure.interval->high);
    text += "\n";
  }
  return text;
}

std::string classes_text(const EvaluationResult& result) {
  std::vector<std::string> names;
  names.reserve(result.evaluation.classes.size());
  for (const ClassFigures& one : result.evaluation.classes)
    names.push_back(printable(result.answers.label(one.index)));
  const int width = widest(names, 5);
  const bool multi = result.answers.multi_label;
  std::string text = fmt::format("\n  {}  photos  precision  recall      F1{}\n",
                                 padded("class", width), multi ? "      AP" : "");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ClassFigures& one = result.evaluation.classes[i];
    const metrics::Rates rates = metrics::rates_of(one.counts);
    text += fmt::format("  {}  {:>6}  {:>9.4f}  {:>6.4f}  {:>6.4f}", padded(names[i], width),
                        one.counts.support, rates.precision, rates.recall, rates.f1);
    if (one.average_precision) text += fmt::format("  {:>6.4f}", *one.average_precision);
    text += "\n";
  }
  return text;
}

/// Columns are numbered as rows are: names would not fit.
std::string matrix_text(const ConfusionTable& table) {
  const std::size_t n = table.labels.size();
  if (n > kWidestMatrix)
    return fmt::format("\nconfusion: {} x {} classes; --output writes them as CSV and picture\n", n,
                       n);
  std::vector<std::string> names;
  names.reserve(n);
  for (std::size_t i = 0; i < n; ++i)
    names.push_back(fmt::format("{:>2} {}", i + 1, printable(table.labels[i])));
  const int width = widest(names, 0);
  std::string text = "\nconfusion: a row for each true class, a column for each predicted one\n";
  text += "  " + padded("", width);
  for (std::size_t i = 0; i < n; ++i) text += fmt::format(" {:>5}", i + 1);
  text += "\n";
  for (std::size_t i = 0; i < n; ++i) {
    text += "  " + padded(names[i], width);
    for (std::size_t j = 0; j < n; ++j) {
      const std::int64_t count = table.counts[i * n + j];
      text += count == 0 ? "     ." : fmt::format(" {:>5}", count);
    }
    text += "\n";
  }
  return text;
}

std::string comparison_text(const EvaluationResult& result) {
  const Comparison& comparison = *result.evaluation.comparison;
  std::string text = fmt::format(
      "\ncompared with {} on {} photos\n"
      "  top-1 accuracy {:.4f}, there {:.4f}",
      printable(comparison.model), comparison.photos, comparison.first_top1,
      comparison.second_top1);
  if (comparison.difference)
    text += fmt::format("; difference {:+.4f}, {:.4g}%: {:+.4f} to {:+.4f}",
                        comparison.second_top1 - comparison.first_top1,
                        result.subject.bootstrap.level * 100, comparison.difference->low,
                        comparison.difference->high);
  return text + fmt::format(
                    "\n  right here only {}, right there only {}\n"
                    "  McNemar's test: p = {:.4g} exact, {:.4g} with continuity correction\n",
                    comparison.split.first_only, comparison.split.second_only, comparison.exact,
                    comparison.corrected.probability);
}

std::string csv_line(const std::string& figure, const std::string& of_class, double value) {
  return fmt::format("{},{},{},,\n", figure, of_class, value);
}

/// Names of the classes that a photo shows, one field.
std::string truth_field(const Answers& answers, std::size_t photo) {
  std::vector<std::string> names;
  names.reserve(answers.truth[photo].size());
  for (const std::int64_t c : answers.truth[photo]) names.push_back(answers.label(c));
  return output::csv_field(fmt::format("{}", fmt::join(names, "|")));
}

std::string probabilities_csv(const Answers& answers) {
  const std::vector<double> probabilities = probabilities_of(answers);
  std::string text = "path,truth";
  for (const std::string& label : answers.labels)
    text += fmt::format(",{}", output::csv_field(label));
  text += "\n";
  const std::size_t classes = answers.labels.size();
  for (std::size_t i = 0; i < answers.paths.size(); ++i) {
    text += fmt::format("{},{}", output::csv_field(answers.paths[i]), truth_field(answers, i));
    for (std::size_t c = 0; c < classes; ++c)
      text += fmt::format(",{:.9g}", probabilities[i * classes + c]);
    text += "\n";
  }
  return text;
}

}  // namespace

ConfusionTable confusion_table(const EvaluationResult& result) {
  ConfusionTable table;
  const auto& classes = result.evaluation.classes;
  table.labels.reserve(classes.size());
  table.counts.reserve(classes.size() * classes.size());
  for (const ClassFigures& truth : classes) {
    table.labels.push_back(result.answers.label(truth.index));
    for (const ClassFigures& prediction : classes)
      table.counts.push_back(result.evaluation.confusion->at(truth.index, prediction.index));
  }
  return table;
}

std::string confusions_text(const Answers& answers, const metrics::ConfusionMatrix& confusion,
                            std::size_t most) {
  std::string text;
  for (const metrics::Confusion& pair : metrics::most_confused(confusion, most)) {
    text +=
        fmt::format("  {:>6}  {} taken for {}\n", pair.count, printable(answers.label(pair.label)),
                    printable(answers.label(pair.predicted)));
  }
  return text;
}

std::string subject_text(const EvaluationResult& result) {
  const auto& classes = result.evaluation.classes;
  const auto shown = std::ranges::count_if(
      classes, [](const ClassFigures& one) { return one.counts.support > 0; });
  std::string text =
      fmt::format("{} photos ({}), {} of the model's {} classes", result.answers.paths.size(),
                  result.subject.split, shown, result.answers.classes());
  if (result.subject.failed > 0) text += fmt::format(", {} failed", result.subject.failed);
  if (result.subject.interrupted) text += ", interrupted";
  return text;
}

std::string evaluation_text(const EvaluationResult& result) {
  std::string text = fmt::format("{} on {} ({})\n{}\n\n", printable(result.answers.model),
                                 printable(result.subject.data), printable(result.subject.source),
                                 subject_text(result));
  text += figures_text(result) + classes_text(result);
  if (result.evaluation.confusion) {
    const std::string confusions =
        confusions_text(result.answers, *result.evaluation.confusion, kConfusionsShown);
    if (!confusions.empty()) text += "\nmost often confused\n" + confusions;
    text += matrix_text(confusion_table(result));
  }
  if (result.evaluation.comparison) text += comparison_text(result);
  return text;
}

std::string evaluation_csv(const EvaluationResult& result) {
  std::string text = "figure,class,value,low,high\n";
  for (const Figure& figure : result.evaluation.figures) {
    text += figure.interval ? fmt::format("{},,{},{},{}\n", figure.key, figure.value,
                                          figure.interval->low, figure.interval->high)
                            : csv_line(figure.key, "", figure.value);
  }
  for (const ClassFigures& one : result.evaluation.classes) {
    const std::string name = output::csv_field(result.answers.label(one.index));
    const metrics::Rates rates = metrics::rates_of(one.counts);
    text += csv_line("support", name, static_cast<double>(one.counts.support));
    text += csv_line("precision", name, rates.precision);
    text += csv_line("recall", name, rates.recall);
    text += csv_line("f1", name, rates.f1);
    if (one.average_precision) text += csv_line("average_precision", name, *one.average_precision);
  }
  if (const auto& comparison = result.evaluation.comparison) {
    text += csv_line("compared_top1", "", comparison->second_top1);
    text += csv_line("mcnemar_exact", "", comparison->exact);
    text += csv_line("mcnemar_corrected", "", comparison->corrected.probability);
  }
  return text;
}

std::string confusion_csv(const EvaluationResult& result) {
  const ConfusionTable table = confusion_table(result);
  std::string text = "true class";
  for (const std::string& label : table.labels)
    text += fmt::format(",{}", output::csv_field(label));
  text += "\n";
  for (std::size_t i = 0; i < table.labels.size(); ++i) {
    text += output::csv_field(table.labels[i]);
    for (std::size_t j = 0; j < table.labels.size(); ++j)
      text += fmt::format(",{}", table.counts[i * table.labels.size() + j]);
    text += "\n";
  }
  return text;
}

std::string predictions_csv(const Answers& answers) {
  if (answers.multi_label) return probabilities_csv(answers);
  const std::vector<double> values = probabilities_of(answers);
  const metrics::Scores probabilities(values, answers.classes());
  const metrics::Scores logits(answers.logits, answers.classes());
  const std::vector<std::int64_t> labels = answers.single_labels();
  const std::vector<std::int64_t> ranks = metrics::label_ranks(logits, labels);
  std::string text = "path,truth,prediction,probability,truth_probability,rank\n";
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = probabilities.row(static_cast<std::int64_t>(i));
    const std::int64_t top = metrics::top_class(logits.row(static_cast<std::int64_t>(i)));
    text += fmt::format("{},{},{},{:.9g},{:.9g},{}\n", output::csv_field(answers.paths[i]),
                        output::csv_field(answers.label(labels[i])),
                        output::csv_field(answers.label(top)), row[static_cast<std::size_t>(top)],
                        row[static_cast<std::size_t>(labels[i])], ranks[i] + 1);
  }
  return text;
}

std::string render(const EvaluationResult& result, output::Format format) {
  switch (format) {
    case output::Format::json:
      return evaluation_json(result);
    case output::Format::csv:
      return evaluation_csv(result);
    case output::Format::text:
      break;
  }
  return evaluation_text(result);
}

}  // namespace vitascope::app
