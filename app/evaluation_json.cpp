#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/evaluation_result.h"
#include "app/output.h"

namespace vitascope::app {
namespace {

using Json = nlohmann::ordered_json;

Json interval_json(const metrics::Interval& interval) { return {interval.low, interval.high}; }

void add_figures(const EvaluationResult& result, Json& object) {
  Json intervals = {{"level", result.subject.bootstrap.level},
                    {"resamples", result.subject.bootstrap.resamples},
                    {"seed", result.subject.bootstrap.seed}};
  for (const Figure& figure : result.evaluation.figures) {
    object[figure.key] = figure.value;  // one that is not finite becomes null
    if (figure.interval) intervals[figure.key] = interval_json(*figure.interval);
  }
  object["intervals"] = std::move(intervals);
}

Json classes_json(const EvaluationResult& result) {
  Json list = Json::array();
  for (const ClassFigures& one : result.evaluation.classes) {
    const metrics::Rates rates = metrics::rates_of(one.counts);
    Json entry = {{"label", result.answers.label(one.index)},
                  {"index", one.index},
                  {"support", one.counts.support},
                  {"predicted", one.counts.predicted},
                  {"right", one.counts.right},
                  {"precision", rates.precision},
                  {"recall", rates.recall},
                  {"f1", rates.f1}};
    if (one.average_precision) entry["average_precision"] = *one.average_precision;
    list.push_back(std::move(entry));
  }
  return list;
}

Json confusion_json(const EvaluationResult& result) {
  const ConfusionTable table = confusion_table(result);
  Json rows = Json::array();
  const auto n = static_cast<std::ptrdiff_t>(table.labels.size());
  for (auto row = table.counts.begin(); row != table.counts.end(); row += n)
    rows.push_back(std::vector<std::int64_t>(row, row + n));
  return {{"labels", table.labels}, {"counts", rows}};
}

Json reliability_json(const Evaluation& evaluation) {
  Json list = Json::array();
  for (const metrics::ReliabilityBin& bin : evaluation.reliability)
    list.push_back(
        {{"count", bin.count}, {"accuracy", bin.accuracy}, {"confidence", bin.confidence}});
  return list;
}

Json mistakes_json(const EvaluationResult& result) {
  Json list = Json::array();
  for (const Mistake& one : result.evaluation.mistakes)
    list.push_back({{"path", result.answers.paths[one.photo]},
                    {"truth", result.answers.label(one.truth)},
                    {"prediction", result.answers.label(one.prediction)},
                    {"probability", one.probability},
                    {"truth_probability", one.truth_probability}});
  return list;
}

Json comparison_json(const Comparison& comparison) {
  Json object = {{"model", comparison.model},
                 {"photos", comparison.photos},
                 {"top1", {comparison.first_top1, comparison.second_top1}},
                 {"first_only", comparison.split.first_only},
                 {"second_only", comparison.split.second_only},
                 {"mcnemar_exact", comparison.exact},
                 {"mcnemar_statistic", comparison.corrected.statistic},
                 {"mcnemar_corrected", comparison.corrected.probability}};
  if (comparison.difference) object["difference"] = interval_json(*comparison.difference);
  return object;
}

}  // namespace

std::string evaluation_json(const EvaluationResult& result) {
  const EvaluationSubject& subject = result.subject;
  Json object = {{"model", result.answers.model},
                 {"data", subject.data},
                 {"source", subject.source},
                 {"split", subject.split},
                 {"photos", result.answers.paths.size()},
                 {"failed", subject.failed},
                 {"interrupted", subject.interrupted},
                 {"multi_label", result.answers.multi_label}};
  add_figures(result, object);
  object["classes"] = classes_json(result);
  if (result.evaluation.confusion) {
    object["confusion"] = confusion_json(result);
    object["reliability"] = reliability_json(result.evaluation);
    object["mistakes"] = mistakes_json(result);
  }
  if (result.evaluation.comparison)
    object["comparison"] = comparison_json(*result.evaluation.comparison);
  return output::json_line(object);
}

}  // namespace vitascope::app
