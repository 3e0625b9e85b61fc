#include "app/progress.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <stdexcept>

namespace vitascope::app {
namespace {

/// A stream in memory and a clock that stands still until it is moved.
class ProgressTest : public testing::Test {
 protected:
  void SetUp() override { stream_ = open_memstream(&buffer_, &size_); }
  void TearDown() override {
    std::fclose(stream_);
    std::free(buffer_);
  }
  std::string written() {
    std::fflush(stream_);
    return std::string(buffer_, size_);
  }
  std::function<double()> clock() {
    return [this] { return now_; };
  }

  char* buffer_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_ = nullptr;
  double now_ = 100;
};

TEST_F(ProgressTest, ALogGetsALineEveryFewSeconds) {
  Progress progress(100, stream_, false, clock());
  now_ += 1;
  progress.show(10);
  EXPECT_EQ(written(), "");
  now_ += 5;
  progress.show(60);
  EXPECT_EQ(written(), "vitascope: 60/100, 10.0 a second, 4 s left\n");
  now_ += 1;
  progress.show(70);
  EXPECT_EQ(written(), "vitascope: 60/100, 10.0 a second, 4 s left\n");
}

TEST_F(ProgressTest, ATerminalGetsABarThatIsRemoved) {
  {
    Progress progress(4, stream_, true, clock());
    now_ += 1;
    progress.show(1);
    const std::string bar = written();
    EXPECT_EQ(bar.rfind("\r\033[K█", 0), 0u);
    EXPECT_THAT(bar, testing::HasSubstr("1/4, 1.0 a second, 3 s left"));
    EXPECT_EQ(bar.find('\n'), std::string::npos);
  }
  EXPECT_THAT(written(), testing::EndsWith("\r\033[K"));
}

TEST_F(ProgressTest, ATextOfTheCallersIsAskedForWhenItIsShown) {
  Progress progress(100, stream_, false, clock());
  progress.show(1, []() -> std::string { throw std::logic_error("not yet"); });
  now_ += 6;
  progress.show(2, [] { return std::string("epoch 1/2"); });
  EXPECT_EQ(written(), "vitascope: epoch 1/2\n");
}

TEST_F(ProgressTest, NothingDrawnNothingRemoved) {
  { Progress progress(4, stream_, true, clock()); }
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressTest, QuietSaysNothing) {
  testing::internal::CaptureStderr();
  {
    Progress progress(100, true);
    progress.show(50);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(ProgressText, SaysHowLongItTakes) {
  EXPECT_EQ(progress_text(0, 10, 0), "0/10");
  EXPECT_EQ(progress_text(10, 10, 4), "10/10, 2.5 a second");
  EXPECT_EQ(progress_text(3, 8, 37), "3/8, 12.3 s each, 62 s left");
  EXPECT_EQ(progress_text(1, 1801, 1), "1/1801, 1.0 a second, 30 min left");
  EXPECT_EQ(progress_text(1, 18001, 1), "1/18001, 1.0 a second, 5.0 h left");
}

}  // namespace
}  // namespace vitascope::app
