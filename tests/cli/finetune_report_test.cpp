#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

#include "tests/cli/run_program.h"
#include "tests/golden.h"

namespace vitascope::tests {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Photos of two classes; the cat is among the cups of validation too, so that one of the two is
/// confused whatever the model learns.
std::string photos(const TemporaryFolder& folder) {
  const auto copies = [&](const std::string& source, const std::string& place, int count) {
    fs::create_directories(folder / place);
    for (int i = 0; i < count; ++i) {
      const fs::path from = golden(source);
      fs::copy_file(from, folder / place + "/" + std::to_string(i) + from.extension().string());
    }
  };
  copies("images/rgb.png", "photos/train/red cat", 4);
  copies("images/gray.jpg", "photos/train/grey cup", 4);
  copies("images/rgb.png", "photos/val/red cat", 1);
  copies("images/gray.jpg", "photos/val/grey cup", 1);
  copies("images/rgb.png", "photos/val/grey cup", 1);
  return folder / "photos";
}

Finished finetune(const TemporaryFolder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"finetune",
                                     "--model",
                                     golden("models/hf-vit"),
                                     "--data",
                                     folder / "photos",
                                     "--output",
                                     folder / "my run",
                                     "--lr",
                                     "1e-3",
                                     "--batch-size",
                                     "4",
                                     "--epochs",
                                     "3",
                                     "--threads",
                                     "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

/// The path of the only event file of a run.
std::string event_file(const std::string& run) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(run)) {
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) {
      found.push_back(entry.path().string());
    }
  }
  EXPECT_EQ(found.size(), 1u);
  return found.empty() ? "" : found[0];
}

/// Records of an event file: eight bytes of length, four of sum, the data, four of sum.
std::size_t count_records(const std::string& bytes) {
  std::size_t count = 0;
  std::uint64_t length = 0;
  for (std::size_t at = 0; at + sizeof(length) < bytes.size(); at += length + 16, ++count) {
    std::memcpy(&length, bytes.data() + at, sizeof(length));
  }
  return count;
}

TEST(FinetuneReport, ARunHoldsWhatPeopleRead) {
  const TemporaryFolder folder;
  photos(folder);
  const std::string run = folder / "my run";
  const Finished finished = finetune(folder, {});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, AllOf(HasSubstr("opens as the model of epoch "),
                                  HasSubstr("most often confused, of 3 photos of validation"),
                                  HasSubstr(" taken for "), HasSubstr("confusions.png"),
                                  HasSubstr("vitascope classify PHOTO --model '" + run + "'")));
  for (const char* name : {"/curves.png", "/confusions.png"}) {
    EXPECT_THAT(file_text(run + name), StartsWith("\x89PNG\r\n")) << name;
  }
  EXPECT_EQ(count_records(file_text(event_file(run))), 4u) << "the version and three epochs";
  EXPECT_THAT(
      file_text(run + "/README.md"),
      AllOf(StartsWith("---\n"), HasSubstr("# my run\n"), HasSubstr("| red cat | 4 | 1 | 0 |"),
            HasSubstr("| lr | 1e-3 |"), HasSubstr("| 3 | "), Not(HasSubstr(folder.path()))));
}

TEST(FinetuneReport, ARunThatGoesOnShowsNoEpochTwice) {
  const TemporaryFolder folder;
  photos(folder);
  const std::string run = folder / "my run";
  ASSERT_EQ(finetune(folder, {"--decay", "constant"}).status, 0);
  const std::string card = file_text(run + "/README.md");
  // Nothing is left to be done: its model is asked again.
  const Finished again = finetune(folder, {"--decay", "constant", "--resume"});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr(" taken for "));
  EXPECT_EQ(count_records(file_text(event_file(run))), 4u);
  EXPECT_EQ(file_text(run + "/README.md"), card);
}

TEST(FinetuneReport, QuietSaysWhereTheModelIs) {
  const TemporaryFolder folder;
  photos(folder);
  const Finished finished = finetune(folder, {"--quiet", "--resume"});
  ASSERT_EQ(finished.status, 0);
  EXPECT_EQ(finished.out, folder / "my run" + "\n");
  EXPECT_EQ(finished.err, "");
}

}  // namespace
}  // namespace vitascope::tests
