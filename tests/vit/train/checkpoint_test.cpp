#include "vit/train/checkpoint.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "vit/error.h"

namespace vitascope::train {
namespace {

using testing::HasSubstr;

class CheckpointFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("vitascope-checkpoint-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    checkpoint_.tensors["weights"]["a.b"] = at::arange(6, at::kFloat).view({2, 3});
    checkpoint_.tensors["weights"]["half"] = at::ones({3}).to(at::kBFloat16);
    checkpoint_.tensors["ema"]["updates"] = at::scalar_tensor(7, at::kLong);
    checkpoint_.texts["recipe"] = "epochs: 3\n";
    checkpoint_.texts["loader"] = std::string("\0\xff", 2);
    checkpoint_.texts["empty"] = "";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::string bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder_;
  Checkpoint checkpoint_;
};

TEST_F(CheckpointFile, GivesBackWhatWasWritten) {
  const Checkpoint read = read_checkpoint(write_checkpoint(folder_, checkpoint_, 5));
  EXPECT_EQ(read.texts, checkpoint_.texts);
  ASSERT_EQ(read.tensors.size(), 2u);
  for (const auto& [part, tensors] : checkpoint_.tensors) {
    for (const auto& [name, tensor] : tensors) {
      EXPECT_TRUE(at::equal(read.tensors.at(part).at(name), tensor)) << name;
      EXPECT_EQ(read.tensors.at(part).at(name).scalar_type(), tensor.scalar_type());
    }
  }
}

TEST_F(CheckpointFile, TheOneBeforeStaysAndOlderOnesGo) {
  for (const std::int64_t step : {9, 10, 100}) write_checkpoint(folder_, checkpoint_, step);
  EXPECT_THAT(checkpoints_in(folder_), testing::ElementsAre(folder_ + "/step-00000100.checkpoint",
                                                            folder_ + "/step-00000010.checkpoint"));
  EXPECT_TRUE(read_newest_checkpoint(folder_));
  EXPECT_FALSE(read_newest_checkpoint(folder_ + "/none"));
}

TEST_F(CheckpointFile, EveryBitThatIsTurnedIsSeen) {
  const std::string path = write_checkpoint(folder_, checkpoint_, 1);
  const std::string whole = bytes(path);
  const Checkpoint original = read_checkpoint(path);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    std::ofstream(path, std::ios::binary) << damaged;
    EXPECT_THROW(read_checkpoint(path), InputError) << "byte " << i;
  }
}

TEST_F(CheckpointFile, NamesTheDamagedPartAndOffersTheOneBefore) {
  write_checkpoint(folder_, checkpoint_, 1);
  const std::string path = write_checkpoint(folder_, checkpoint_, 2);
  std::string damaged = bytes(path);
  damaged[damaged.find("epochs: 3")] = 'E';
  std::ofstream(path, std::ios::binary) << damaged;
  EXPECT_THAT([&] { read_newest_checkpoint(folder_); },
              testing::ThrowsMessage<InputError>(
                  testing::AllOf(HasSubstr("step-00000002"), HasSubstr("'recipe'"),
                                 HasSubstr("step-00000001.checkpoint, is whole"))));
  std::filesystem::resize_file(folder_ + "/step-00000001.checkpoint", 100);
  EXPECT_THAT([&] { read_newest_checkpoint(folder_); },
              testing::ThrowsMessage<InputError>(HasSubstr("as well")));
}

TEST_F(CheckpointFile, NoOtherFileIsTakenForOne) {
  std::ofstream(folder_ + "/step-00000001.checkpoint") << "not a checkpoint at all";
  EXPECT_THROW(read_newest_checkpoint(folder_), InputError);
}

}  // namespace
}  // namespace vitascope::train
