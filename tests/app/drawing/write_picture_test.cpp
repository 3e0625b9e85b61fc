#include "app/drawing/write_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "vit/error.h"
#include "vit/file.h"
#include "vit/image/decode.h"

namespace vitascope::drawing {
namespace {

using ::testing::HasSubstr;

/// A folder of its own that vanishes with the test.
class WritePicture : public ::testing::Test {
 protected:
  WritePicture()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                ("write_picture_" +
                 std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    std::filesystem::create_directories(folder_);
  }
  ~WritePicture() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), {});
  }

 private:
  std::filesystem::path folder_;
};

/// Red on the left, blue on the right.
Canvas two_colours() {
  Canvas canvas({64, 32}, {250, 10, 20});
  canvas.fill({32, 0, 32, 32}, {10, 60, 240});
  return canvas;
}

void expect_near(Colour got, Colour expected, int levels) {
  EXPECT_NEAR(got.r, expected.r, levels);
  EXPECT_NEAR(got.g, expected.g, levels);
  EXPECT_NEAR(got.b, expected.b, levels);
}

TEST(PhotoJpeg, ShrinksWhatIsLongerAndNothingElse) {
  const Canvas drawn = two_colours();
  const image::Picture photo{
      .rgb = drawn.rgb(), .size = drawn.size(), .stored = drawn.size(), .path = "", .warning = ""};
  const auto read = [&](int longest) {
    const std::string path = ::testing::TempDir() + "/photo_jpeg.jpg";
    write_file(path, /*force=*/true, photo_jpeg(photo, longest));
    return image::decode(path);
  };
  EXPECT_EQ(read(64).size, (image::Size{64, 32}));
  EXPECT_EQ(read(1000).size, (image::Size{64, 32}));
  const image::Picture half = read(32);
  ASSERT_EQ(half.size, (image::Size{32, 16}));
  expect_near(Canvas(half).at(4, 8), {250, 10, 20}, 8);
  expect_near(Canvas(half).at(28, 8), {10, 60, 240}, 8);
}

TEST_F(WritePicture, KeepsRedRedInEveryFormat) {
  for (const char* name : {"a.png", "a.jpg", "a.JPEG", "a.webp"}) {
    write_picture(path(name), two_colours(), false);
    const image::Picture read = image::decode(path(name));
    ASSERT_EQ(read.size, (image::Size{64, 32})) << name;
    expect_near(Canvas(read).at(8, 16), {250, 10, 20}, 6);
    expect_near(Canvas(read).at(56, 16), {10, 60, 240}, 6);
  }
  EXPECT_EQ(files(), 4);
}

TEST_F(WritePicture, PngLosesNothing) {
  Canvas canvas({7, 5}, {1, 2, 3});
  canvas.set(3, 2, {255, 0, 254});
  write_picture(path("a.png"), canvas, false);
  EXPECT_EQ(image::decode(path("a.png")).rgb, canvas.rgb());
}

TEST_F(WritePicture, WritesWhatTheEndingSays) {
  const auto begins = [&](const char* name) {
    write_picture(path(name), two_colours(), false);
    return read_file(path(name), 1 << 20).substr(0, 4);
  };
  EXPECT_EQ(begins("a.png"), "\x89PNG");
  EXPECT_EQ(begins("a.jpg").substr(0, 3), "\xFF\xD8\xFF");
  EXPECT_EQ(begins("a.webp"), "RIFF");
}

TEST_F(WritePicture, QualityMakesFilesLarger) {
  Canvas canvas({64, 64}, {0, 0, 0});
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) {
      const auto level = static_cast<std::uint8_t>((x * 37 + y * 91) % 256);
      canvas.set(x, y, {level, static_cast<std::uint8_t>(255 - level), 128});
    }
  }
  for (const PictureFormat format : {PictureFormat::jpeg, PictureFormat::webp}) {
    EXPECT_LT(encode(canvas, format, 20).size(), encode(canvas, format, 95).size());
  }
}

TEST_F(WritePicture, OverwritesOnlyWhenForced) {
  write_picture(path("a.png"), two_colours(), false);
  const std::string before = read_file(path("a.png"), 1 << 20);
  EXPECT_THROW(write_picture(path("a.png"), Canvas({3, 3}, {}), false), UsageError);
  EXPECT_EQ(read_file(path("a.png"), 1 << 20), before);
  write_picture(path("a.png"), Canvas({3, 3}, {}), true);
  EXPECT_EQ(image::decode(path("a.png")).size, (image::Size{3, 3}));
  EXPECT_EQ(files(), 1);
}

TEST_F(WritePicture, SaysWhichEndingsThereAre) {
  for (const char* name : {"a.gif", "a", "a.png.txt"}) {
    try {
      write_picture(path(name), two_colours(), false);
      ADD_FAILURE() << name;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(name));
      EXPECT_THAT(error.what(), HasSubstr(".png, .jpg, .jpeg or .webp"));
    }
  }
  EXPECT_EQ(files(), 0);
}

TEST_F(WritePicture, RefusesWhatAFormatCannotHold) {
  const Canvas wide({16384, 1}, {});
  EXPECT_THROW(write_picture(path("a.webp"), wide, false), FailureError);
  EXPECT_EQ(files(), 0);
  write_picture(path("a.png"), wide, false);
}

}  // namespace
}  // namespace vitascope::drawing
