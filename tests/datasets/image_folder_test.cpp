#include "datasets/image_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace vitascope::datasets {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A folder of its own, left behind as it was.
class ImageFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "vitascope-images-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string path(const std::string& name) const { return (root_ / name).string(); }
  void touch(const std::string& name) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << "x";
  }
  /// Names below the folder instead of whole paths.
  std::vector<std::string> names(const ImageList& list) const {
    std::vector<std::string> result;
    for (const std::string& found : list.paths) {
      result.push_back(fs::path(found).lexically_relative(root_).string());
    }
    return result;
  }

  fs::path root_;
};

TEST_F(ImageFolderTest, AFolderGivesItsPicturesInNaturalOrder) {
  for (const char* name :
       {"photo 10.jpg", "photo 9.jpg", "b.PNG", "a.WebP", ".hidden.jpg", "notes.txt"}) {
    touch(name);
  }
  const ImageList list = list_images({root_.string()}, false);
  EXPECT_THAT(names(list), ElementsAre("a.WebP", "b.PNG", "photo 9.jpg", "photo 10.jpg"));
  EXPECT_THAT(list.failures, IsEmpty());
}

TEST_F(ImageFolderTest, FoldersInsideOnlyWhenAsked) {
  touch("z.jpg");
  touch("inside/a.jpg");
  touch("inside/deep/b.jpg");
  touch(".secret/c.jpg");
  EXPECT_THAT(names(list_images({root_.string()}, false)), ElementsAre("z.jpg"));
  EXPECT_THAT(names(list_images({root_.string()}, true)),
              ElementsAre("z.jpg", "inside/a.jpg", "inside/deep/b.jpg"));
}

TEST_F(ImageFolderTest, OrderIsThatOfTheInputs) {
  touch("b.jpg");
  touch("a.jpg");
  touch("inside/c.jpg");
  const ImageList list =
      list_images({path("inside"), path("b.jpg"), path("a.jpg"), path("b.jpg")}, false);
  EXPECT_THAT(names(list), ElementsAre("inside/c.jpg", "b.jpg", "a.jpg", "b.jpg"));
}

TEST_F(ImageFolderTest, AFileNamedByItselfIsTakenWhateverItsExtension) {
  touch("photo");
  touch(".hidden.jpg");
  EXPECT_THAT(names(list_images({path("photo"), path(".hidden.jpg")}, false)),
              ElementsAre("photo", ".hidden.jpg"));
}

TEST_F(ImageFolderTest, WhatIsMissingOrEmptyIsNamed) {
  touch("folder/notes.txt");
  touch("outer/inside/a.jpg");
  const ImageList list =
      list_images({path("folder"), path("no.jpg"), path("no*.jpg"), path("outer")}, false);
  EXPECT_THAT(list.paths, IsEmpty());
  ASSERT_EQ(list.failures.size(), 4u);
  EXPECT_EQ(list.failures[0], path("folder") + ": no pictures in this folder");
  EXPECT_EQ(list.failures[1], path("no.jpg") + ": no such file or folder");
  EXPECT_EQ(list.failures[2], path("no*.jpg") + ": nothing matches");
  EXPECT_THAT(list.failures[3], HasSubstr("--recursive"));
}

TEST_F(ImageFolderTest, FailuresAreOneLineWhateverTheName) {
  const ImageList list = list_images({path("a\nb\x1b.jpg")}, false);
  ASSERT_EQ(list.failures.size(), 1u);
  EXPECT_THAT(list.failures[0], HasSubstr("a\\nb\\x1B.jpg: no such file"));
}

TEST_F(ImageFolderTest, GlobsMatchNamesAndFolders) {
  for (const char* name :
       {"one/a1.jpg", "one/a2.jpg", "one/b1.jpg", "two/a1.jpg", "two/.a1.jpg", "a1.txt"}) {
    touch(name);
  }
  EXPECT_THAT(names(list_images({path("*/a?.jpg")}, false)),
              ElementsAre("one/a1.jpg", "one/a2.jpg", "two/a1.jpg"));
  EXPECT_THAT(names(list_images({path("one/[ab]1.jpg")}, false)),
              ElementsAre("one/a1.jpg", "one/b1.jpg"));
  EXPECT_THAT(names(list_images({path("t*")}, false)), ElementsAre("two/a1.jpg"));
}

TEST_F(ImageFolderTest, AGlobIsReadFromTheWorkingFolderToo) {
  touch("a1.jpg");
  const fs::path before = fs::current_path();
  fs::current_path(root_);
  const ImageList list = list_images({"a*.jpg", "./a?.jpg"}, false);
  fs::current_path(before);
  EXPECT_THAT(list.paths, ElementsAre("a1.jpg", "./a1.jpg"));
}

TEST_F(ImageFolderTest, APathThatExistsWinsOverItsReadingAsAGlob) {
  touch("holiday [2].jpg");
  touch("holiday 2.jpg");
  EXPECT_THAT(names(list_images({path("holiday [2].jpg")}, false)), ElementsAre("holiday [2].jpg"));
  EXPECT_THAT(names(list_images({path("holiday [2-3].jpg")}, false)), ElementsAre("holiday 2.jpg"));
}

TEST_F(ImageFolderTest, LoopsOfLinksEnd) {
  touch("inside/a.jpg");
  fs::create_directory_symlink(root_, root_ / "inside/loop");
  fs::create_directory_symlink(root_ / "inside", root_ / "inside/self");
  EXPECT_THAT(names(list_images({root_.string()}, true)), ElementsAre("inside/a.jpg"));
}

TEST_F(ImageFolderTest, LinksToPicturesCountAndBrokenOnesAreLeftToTheDecoder) {
  touch("real.bin");
  fs::create_symlink(root_ / "real.bin", root_ / "link.jpg");
  fs::create_symlink(root_ / "nowhere", root_ / "broken.jpg");
  EXPECT_THAT(names(list_images({root_.string()}, false)), ElementsAre("broken.jpg", "link.jpg"));
}

TEST_F(ImageFolderTest, AFolderThatCantBeReadIsNamed) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads every folder";
  touch("locked/a.jpg");
  touch("b.jpg");
  chmod(path("locked").c_str(), 0);
  const ImageList list = list_images({root_.string()}, true);
  chmod(path("locked").c_str(), 0755);
  EXPECT_THAT(names(list), ElementsAre("b.jpg"));
  ASSERT_EQ(list.failures.size(), 1u);
  EXPECT_THAT(list.failures[0], HasSubstr("locked: the folder can't be read"));
}

TEST(HasImageExtension, InAnyCase) {
  for (const char* name :
       {"a.jpg", "a.JPEG", "a.jPe", "a.jfif", "a.png", "a.gif", "a.webp", "a.tif", "a.TIFF",
        "a.bmp", "a.heic", "a.HEIF", "a.avif", "folder.x/b.jpg"}) {
    EXPECT_TRUE(has_image_extension(name)) << name;
  }
  for (const char* name : {"a", "jpg", "a.jpg.txt", "a.jpgx", "a.", "folder.jpg/readme", ".jpg"}) {
    EXPECT_FALSE(has_image_extension(name)) << name;
  }
}

}  // namespace
}  // namespace vitascope::datasets
