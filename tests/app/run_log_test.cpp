#include "app/run_log.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/cli/run_program.h"
#include "vit/error.h"

namespace vitascope::app {
namespace {

using tests::file_text;
using tests::TemporaryFolder;

LogRow row(std::int64_t epoch, bool best) {
  return {.epoch = epoch,
          .step = 10 * epoch,
          .loss = 0.1,
          .accuracy = 1 / 3.0,
          .validation = {{"accuracy", 0.7}, {"loss", 2.5e-7}},
          .rate = 1e-4,
          .images_per_second = 5.9,
          .waiting = 0.25,
          .memory = 1.5,
          .time = 1764500000.125,
          .best = best};
}

TEST(RunLog, ALineGivesTheRowBack) {
  const LogRow before = row(3, true);
  const LogRow after = parse_log_line(log_line(before));
  EXPECT_EQ(after.epoch, 3);
  EXPECT_EQ(after.step, 30);
  EXPECT_EQ(after.loss, before.loss);
  EXPECT_EQ(after.accuracy, before.accuracy);
  EXPECT_EQ(after.validation, before.validation);
  EXPECT_EQ(after.rate, before.rate);
  EXPECT_EQ(after.images_per_second, before.images_per_second);
  EXPECT_EQ(after.waiting, before.waiting);
  EXPECT_EQ(after.memory, before.memory);
  EXPECT_EQ(after.time, before.time);
  EXPECT_TRUE(after.best);
}

TEST(RunLog, WhatJsonCanNotHoldIsNoNumber) {
  LogRow odd = row(1, false);
  odd.images_per_second = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(parse_log_line(log_line(odd)).images_per_second));
  EXPECT_THROW(parse_log_line("{\"epoch\": 1"), InputError);
  EXPECT_THROW(parse_log_line("{\"epoch\": 0, \"step\": 1}"), InputError);
}

TEST(RunLog, TheBestIsTheLastThatWasBest) {
  EXPECT_EQ(best_row({}), nullptr);
  const std::vector<LogRow> rows{row(1, true), row(2, true), row(3, false)};
  EXPECT_EQ(best_row(rows), &rows[1]);
}

TEST(RunLog, TensorBoardSeesTrainingBesideValidation) {
  const ScalarEvent event = scalars_of(row(4, false));
  EXPECT_EQ(event.step, 4);
  EXPECT_EQ(event.values.at("loss/train"), 0.1);
  EXPECT_EQ(event.values.at("loss/validation"), 2.5e-7);
  EXPECT_EQ(event.values.at("accuracy/validation"), 0.7);
  EXPECT_EQ(event.values.at("learning_rate"), 1e-4);
}

TEST(RunLog, GoesOnWithTheEpochsThatAreDone) {
  const TemporaryFolder folder;
  RunLog log(folder.path());
  log.begin(0);
  for (int epoch = 1; epoch <= 3; ++epoch) log.add(row(epoch, epoch == 1));
  const std::string whole = file_text(folder / "log.jsonl");
  folder.write("log.jsonl", whole + "not a line of ours\n");
  RunLog again(folder.path());
  again.begin(2);
  ASSERT_EQ(again.rows().size(), 2u);
  again.add(row(3, false));
  EXPECT_EQ(file_text(folder / "log.jsonl"), whole);
  EXPECT_EQ(file_text(folder / "log.csv"),
            "epoch,step,train_loss,train_accuracy,val_accuracy,val_loss,rate,images_per_second,"
            "waiting,peak_memory,time,best\n"
            "1,10,0.1,0.3333333333333333,0.7,2.5e-07,0.0001,5.9,0.25,1.5,1764500000.125,true\n"
            "2,20,0.1,0.3333333333333333,0.7,2.5e-07,0.0001,5.9,0.25,1.5,1764500000.125,false\n"
            "3,30,0.1,0.3333333333333333,0.7,2.5e-07,0.0001,5.9,0.25,1.5,1764500000.125,false\n");
}

}  // namespace
}  // namespace vitascope::app
