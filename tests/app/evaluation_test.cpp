#include "app/evaluation.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "vit/error.h"

namespace vitascope::app {
namespace {

/// Six photos of three of four classes. scikit-learn 1.x gives the figures below for them.
Answers six_photos() {
  Answers answers;
  answers.model = "m";
  answers.labels = {"a", "b", "c", "d"};
  answers.samples = {0, 1, 2, 4, 5, 7};
  answers.paths = {"0", "1", "2", "4", "5", "7"};
  answers.truth = {{0}, {1}, {2}, {0}, {0}, {1}};
  answers.logits = {2.0, 1.0, 0.0, -1.0, 0.5, 2.5, 0.0, 0.0, 1.0, 0.0, 3.0, 0.5,
                    0.0, 2.0, 1.0, 0.0,  3.0, 0.0, 0.5, 0.0, 0.2, 0.1, 0.3, 0.0};
  return answers;
}

std::map<std::string, double> figures_of(const Evaluation& evaluation) {
  std::map<std::string, double> figures;
  for (const Figure& figure : evaluation.figures) figures[figure.key] = figure.value;
  return figures;
}

void expect_figures(const Evaluation& evaluation, const std::map<std::string, double>& expected) {
  const auto figures = figures_of(evaluation);
  for (const auto& [key, value] : expected) {
    const auto found = figures.find(key);
    if (found == figures.end()) {
      ADD_FAILURE() << "no " << key;
    } else {
      EXPECT_NEAR(found->second, value, 1e-12) << key;
    }
  }
}

TEST(Evaluation, HasScikitLearnsFigures) {
  EvaluationOptions options;
  options.bins = 5;
  const Evaluation evaluation = evaluate(six_photos(), options);
  expect_figures(evaluation, {{"top1", 4 / 6.0},
                              {"top5", 1},
                              {"balanced_accuracy", 0.7222222222222222},
                              {"macro_precision", 2 / 3.0},
                              {"macro_recall", 0.7222222222222222},
                              {"macro_f1", 0.6555555555555556},
                              {"weighted_precision", 0.75},
                              {"weighted_recall", 2 / 3.0},
                              {"weighted_f1", 0.6777777777777779},
                              {"ece", 0.10491887898399589},
                              {"nll", 0.8403759359864443},
                              {"brier", 0.40147940639304136}});
  EXPECT_EQ(figures_of(evaluation).count("temperature"), 0u);
  ASSERT_EQ(evaluation.classes.size(), 3u) << "d is neither there nor predicted";
  EXPECT_EQ(evaluation.confusion->at(0, 1), 1);
  EXPECT_EQ(evaluation.confusion->at(1, 2), 1);
}

TEST(Evaluation, AFittedTemperatureMakesThePhotosLikelier) {
  EvaluationOptions options;
  options.fit_temperature = true;
  auto figures = figures_of(evaluate(six_photos(), options));
  EXPECT_GT(figures["temperature"], 0);
  EXPECT_LT(figures["nll_at_temperature"], figures["nll"]);
}

TEST(Evaluation, IntervalsHoldTheFigureAndCanBeLeftOut) {
  EvaluationOptions options;
  const Evaluation with = evaluate(six_photos(), options);
  for (const char* key : {"top1", "top5", "balanced_accuracy", "macro_f1"}) {
    const auto figure = std::ranges::find(with.figures, key, &Figure::key);
    ASSERT_NE(figure, with.figures.end()) << key;
    ASSERT_TRUE(figure->interval) << key;
    EXPECT_LE(figure->interval->low, figure->value) << key;
    EXPECT_GE(figure->interval->high, figure->value) << key;
  }
  options.bootstrap.resamples = 0;
  for (const Figure& figure : evaluate(six_photos(), options).figures)
    EXPECT_FALSE(figure.interval) << figure.key;
}

TEST(Evaluation, MistakesAreSortedByConfidence) {
  EvaluationOptions options;
  std::vector<Mistake> mistakes = evaluate(six_photos(), options).mistakes;
  ASSERT_EQ(mistakes.size(), 2u);
  EXPECT_EQ(mistakes[0].photo, 3u);
  EXPECT_EQ(mistakes[0].truth, 0);
  EXPECT_EQ(mistakes[0].prediction, 1);
  EXPECT_NEAR(mistakes[0].probability, 0.61029569, 1e-8);
  EXPECT_EQ(mistakes[1].photo, 5u);
  options.mistakes = 1;
  EXPECT_EQ(evaluate(six_photos(), options).mistakes.size(), 1u);
}

TEST(Evaluation, SeveralLabelsHaveScikitLearnsFigures) {
  Answers answers = six_photos();
  answers.sigmoid = answers.multi_label = true;
  answers.truth = {{0, 1}, {1}, {2, 3}, {}, {0, 2}, {0}};
  EvaluationOptions options;
  options.threshold = 0.6;
  const Evaluation evaluation = evaluate(answers, options);
  expect_figures(evaluation, {{"map", 0.8833333333333333},
                              {"micro_f1", 0.7368421052631579},
                              {"macro_f1", 0.7928571428571429}});
  EXPECT_FALSE(evaluation.confusion);
}

TEST(Comparison, CountsThePhotosThatBothAnswered) {
  const Answers first = six_photos();
  Answers second = six_photos();
  // Another order of the classes, one photo less, all of the others right.
  second.labels = {"c", "b", "a", "d"};
  second.truth = {{2}, {1}, {0}, {2}, {2}};
  second.samples = {0, 1, 2, 4, 5};
  second.paths.pop_back();
  second.logits.assign(20, 0);
  for (std::size_t i = 0; i < 5; ++i)
    second.logits[4 * i + static_cast<std::size_t>(second.truth[i].front())] = 1;
  const Comparison comparison = compare(first, second, {});
  EXPECT_EQ(comparison.photos, 5);
  EXPECT_DOUBLE_EQ(comparison.first_top1, 0.8);
  EXPECT_DOUBLE_EQ(comparison.second_top1, 1);
  EXPECT_EQ(comparison.split.first_only, 0);
  EXPECT_EQ(comparison.split.second_only, 1);
  EXPECT_DOUBLE_EQ(comparison.exact, 1);
  ASSERT_TRUE(comparison.difference);
  EXPECT_GE(comparison.difference->low, 0);
  second.samples = {10, 11, 12, 13, 14};
  EXPECT_THROW(compare(first, second, {}), UsageError);
}

}  // namespace
}  // namespace vitascope::app
