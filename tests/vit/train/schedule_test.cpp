#include "vit/train/schedule.h"

#include <gmock/gmock.h>

#include <limits>

#include "tests/vit/train/golden_training.h"
#include "vit/error.h"

namespace vitascope::train {
namespace {

/// The golden cosine schedules by their names in the file.
class GoldenSchedule : public testing::Test {
 protected:
  void expect(const std::string& name, const Schedule& schedule) {
    validate(schedule);
    const auto rates = golden.at(name).get<std::vector<double>>();
    ASSERT_EQ(std::ssize(rates), schedule.steps);
    for (std::int64_t t = 0; t < schedule.steps; ++t) {
      SCOPED_TRACE(t);
      tests::expect_relative(rate_at(schedule, t), rates[static_cast<std::size_t>(t)], 1e-9);
    }
  }

  const Json golden = tests::golden_json("schedules").at("cosine");
  const Schedule base{.steps = golden.at("steps"),
                      .warmup = golden.at("warmup"),
                      .rate = golden.at("lr"),
                      .final_rate = golden.at("min_lr")};
};

TEST_F(GoldenSchedule, LinearThenCosine) { expect("linear_then_cosine", base); }

TEST_F(GoldenSchedule, OfTransformers) {
  Schedule schedule = base;
  schedule.warmup_start = schedule.final_rate = 0;
  expect("huggingface", schedule);
}

TEST_F(GoldenSchedule, OfTimm) {
  Schedule schedule = base;
  schedule.warmup_start = golden.at("warmup_init").get<double>();
  expect("timm_prefix", schedule);
  schedule.decay_from_zero = true;
  expect("timm_no_prefix", schedule);
}

TEST(Schedule, LinearAndConstant) {
  Schedule schedule{.steps = 10, .warmup = 2, .rate = 1, .final_rate = .2, .decay = Decay::linear};
  EXPECT_EQ(rate_at(schedule, 0), .5);
  EXPECT_EQ(rate_at(schedule, 1), 1);
  EXPECT_EQ(rate_at(schedule, 2), 1);
  EXPECT_NEAR(rate_at(schedule, 6), .6, 1e-15);
  schedule.decay = Decay::constant;
  EXPECT_EQ(rate_at(schedule, 0), .5);
  EXPECT_EQ(rate_at(schedule, 9), 1);
}

TEST(Schedule, StaysAtItsEnd) {
  const Schedule schedule{.steps = 10, .warmup = 2, .rate = 1, .final_rate = .2};
  EXPECT_NEAR(rate_at(schedule, 10), .2, 1e-15);
  EXPECT_EQ(rate_at(schedule, 10), rate_at(schedule, 1000));
  EXPECT_EQ(rate_at({.steps = 1, .rate = 1}, 0), 1);
  EXPECT_EQ(rate_at({.steps = 4, .warmup = 4, .rate = 1}, 3), 1);
}

TEST(Schedule, RefusesWhatMakesNoSense) {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  for (const Schedule& wrong :
       {Schedule{.steps = 0}, Schedule{.steps = 3, .warmup = 4}, Schedule{.steps = 3, .warmup = -1},
        Schedule{.rate = -1}, Schedule{.rate = nothing}, Schedule{.final_rate = -1e-9},
        Schedule{.warmup_start = -1}}) {
    EXPECT_THROW(validate(wrong), UsageError);
  }
}

}  // namespace
}  // namespace vitascope::train
