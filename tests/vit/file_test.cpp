#include "vit/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include "vit/error.h"

namespace vitascope {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FileTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string in(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_ = fs::temp_directory_path() / ("vitascope-file-" + std::to_string(::getpid()));
};

template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(NameInFolder, IsTheLastTwoParts) {
  EXPECT_EQ(name_in_folder("photos/cat/a.jpg"), "cat/a.jpg");
  EXPECT_EQ(name_in_folder("/cat/a.jpg"), "cat/a.jpg");
  EXPECT_EQ(name_in_folder("cat/a.jpg"), "cat/a.jpg");
  EXPECT_EQ(name_in_folder("/a.jpg"), "/a.jpg");
  EXPECT_EQ(name_in_folder("a.jpg"), "a.jpg");
}

TEST_F(FileTest, WhatIsWrittenIsReadBack) {
  write_file(in("a"), false, "hello");
  EXPECT_EQ(read_file(in("a"), 5), "hello");
  const auto mapped = MappedFile::open(in("a"));
  ASSERT_EQ(mapped->bytes().size(), 5);
  EXPECT_EQ(std::to_integer<char>(mapped->bytes()[1]), 'e');
  EXPECT_EQ(count(), 1) << "no temporary file may stay";
}

TEST_F(FileTest, MapsAnEmptyFile) {
  write_file(in("empty"), false, "");
  EXPECT_TRUE(MappedFile::open(in("empty"))->bytes().empty());
}

TEST_F(FileTest, ReleasedPagesReadTheSame) {
  write_file(in("big"), false, std::string(100'000, 'x'));
  const auto mapped = MappedFile::open(in("big"));
  mapped->release(mapped->bytes().subspan(10));
  EXPECT_EQ(std::to_integer<char>(mapped->bytes()[50'000]), 'x');
}

TEST_F(FileTest, SaysWhatIsWrongWithAPath) {
  EXPECT_THAT(error_of([&] { MappedFile::open(in("none")); }), HasSubstr("No such file"));
  EXPECT_THAT(error_of([&] { MappedFile::open(folder_); }), HasSubstr("is a folder"));
  ASSERT_EQ(::mkfifo(in("fifo").c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { read_file(in("fifo"), 10); }), HasSubstr("not a regular file"));
}

TEST_F(FileTest, ReadsNoMoreThanTheLimit) {
  write_file(in("a"), false, "hello");
  EXPECT_THAT(error_of([&] { read_file(in("a"), 4); }), HasSubstr("is 5 bytes large"));
}

TEST_F(FileTest, OverwritesOnlyWhenForced) {
  write_file(in("a"), false, "old");
  EXPECT_THROW(write_file(in("a"), false, "new"), UsageError);
  EXPECT_EQ(read_file(in("a"), 10), "old");
  write_file(in("a"), true, "new");
  EXPECT_EQ(read_file(in("a"), 10), "new");
}

TEST_F(FileTest, LeavesNothingBehindWhenTheWriterThrows) {
  write_file(in("a"), false, "old");
  EXPECT_THROW(write_file(in("a"), true,
                          [](const auto& append) {
                            append(std::as_bytes(std::span("half", 4)));
                            throw FailureError("stopped");
                          }),
               FailureError);
  EXPECT_EQ(read_file(in("a"), 10), "old");
  EXPECT_EQ(count(), 1);
}

TEST_F(FileTest, ChecksBeforeAnyWork) {
  EXPECT_THAT(error_of([&] { check_writable(in("no/a"), false); }), HasSubstr("does not exist"));
  EXPECT_THAT(error_of([&] { check_writable(folder_, true); }), HasSubstr("is a folder"));
}

TEST_F(FileTest, HonoursTheUmask) {
  write_file(in("a"), false, "x");
  const mode_t mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(fs::status(in("a")).permissions(), static_cast<fs::perms>(0666 & ~mask));
}

}  // namespace
}  // namespace vitascope
