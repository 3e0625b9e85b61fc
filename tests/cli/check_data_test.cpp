#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.h"
#include "tests/golden.h"

namespace vitascope::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A data set with one fault of each kind.
void fill(const TemporaryFolder& folder) {
  const std::string photo = file_text(golden("images/rgb.png"));
  folder.write("train/cat/a.png", photo);
  folder.write("train/cat/b.jpg", file_text(golden("images/bad/truncated.jpg")));
  folder.write("train/dog/c.jpg", photo);
  folder.write("val/cat/d.png", file_text(golden("images/odd_1x1.png")));
  folder.write("val/été au lac/e.jpg", file_text(golden("images/rgb_plain.jpg")));
}

TEST(CheckData, SaysWhatThereIsAndWhatIsWrong) {
  const TemporaryFolder folder;
  fill(folder);
  const Finished finished = run_program({"check-data", folder.path()});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err, "");
  for (const char* part :
       {"5 pictures, 3 classes", "train  validation", "été au lac", "broken: 1\n",
        "train/cat/b.jpg: ", "tiny: 1\n", "1 x 1 pixels", "is PNG inside, named .jpg",
        "different labels:", "uneven: the class 'dog'", "uneven: the class 'été au lac'",
        "checked 5 of 5 pictures: 1 broken"})
    EXPECT_THAT(finished.out, HasSubstr(part));
}

TEST(CheckData, Json) {
  const TemporaryFolder folder;
  fill(folder);
  const Finished finished = run_program({"check-data", folder.path(), "--format", "json"});
  EXPECT_EQ(finished.status, 1);
  const json report = json::parse(finished.out);
  EXPECT_EQ(report["pictures"], 5);
  EXPECT_EQ(report["splits"]["train"], 3);
  EXPECT_EQ(report["classes"][0], json::parse(R"({"train": 2, "validation": 1, "test": 0,
                                                  "unsplit": 0, "name": "cat"})"));
  EXPECT_EQ(report["broken"][0]["path"], folder / "train/cat/b.jpg");
  EXPECT_EQ(report["duplicates"][0]["kind"], "different labels");
  EXPECT_EQ(report["duplicates"][0]["pictures"][1]["labels"], json({"dog"}));
  EXPECT_EQ(report["uneven"].size(), 2u);
}

TEST(CheckData, SoundDataGivesZero) {
  const TemporaryFolder folder;
  folder.write("cat/a.png", file_text(golden("images/rgb.png")));
  const Finished finished = run_program({"check-data", folder.path()});
  EXPECT_EQ(finished.status, 0) << finished.out;
}

TEST(CheckData, WhatCannotBeOpenedIsAUsageError) {
  const TemporaryFolder folder;
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"check-data"}, {"check-data", folder / "none"}, {"check-data", folder.path()}}) {
    const Finished finished = run_program(arguments);
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.out, "");
    EXPECT_EQ(finished.errors().size(), 1u) << finished.err;
  }
}

TEST(CheckData, IsInterrupted) {
  const TemporaryFolder folder;
  std::string table = "path,label\n";
  const std::string row = golden("images/gray16.png") + ",a\n";
  for (int i = 0; i < 200000; ++i) table += row;
  bool sent = false;
  Invocation invocation;
  invocation.arguments = {"check-data", folder.write("t.csv", table), "--format", "json"};
  // It says how far it is every five seconds; until then nothing shows that it has begun.
  invocation.watch = [&](pid_t pid, const Finished& so_far) {
    if (sent || so_far.err.empty()) return;
    sent = true;
    kill(pid, SIGINT);
  };
  const Finished finished = run_program(invocation);
  EXPECT_EQ(finished.status, 130) << finished.err;
  EXPECT_EQ(json::parse(finished.out)["interrupted"], true);
}

}  // namespace
}  // namespace vitascope::tests
