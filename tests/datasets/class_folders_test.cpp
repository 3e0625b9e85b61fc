#include "datasets/class_folders.h"

#include <gmock/gmock.h>

#include "datasets/split.h"
#include "tests/cli/run_program.h"
#include "vit/error.h"

namespace vitascope::datasets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::TemporaryFolder;

TEST(ClassFolders, SplitsOfAnySpelling) {
  const TemporaryFolder folder;
  for (const char* name : {"Train/class 10/a.JPG", "Train/class 9/b.png",
                           "Train/class 9/deep/c.webp", "valid/été/d.gif", "test/class 9/e.jpg",
                           "Train/class 9/.hidden.jpg", ".cache/x/f.jpg", "README.txt"})
    folder.write(name, "x");
  const auto images = read_class_folders(folder.path());
  EXPECT_THAT(images.classes, ElementsAre("class 9", "class 10", "été"));
  EXPECT_EQ(count_splits(images), (SplitCounts{0, 3, 1, 1}));
  EXPECT_EQ(count_classes(images)[0], (SplitCounts{0, 2, 0, 1}));
  EXPECT_THAT(images.notes, IsEmpty());
  EXPECT_THAT(images.source, HasSubstr("splits"));
}

TEST(ClassFolders, OneFolder) {
  const TemporaryFolder folder;
  folder.write("dog/a.jpg", "x");
  folder.write("cat/b.jpg", "x");
  folder.write("test/c.jpg", "x");  // a class of that name, as there is no train
  const auto images = read_class_folders(folder.path());
  EXPECT_THAT(images.classes, ElementsAre("cat", "dog", "test"));
  EXPECT_EQ(count_splits(images), (SplitCounts{3, 0, 0, 0}));
}

TEST(ClassFolders, WhatIsLeftOutIsNoted) {
  const TemporaryFolder folder;
  folder.write("train/cat/a.jpg", "x");
  folder.write("train/empty/notes.txt", "x");
  folder.write("train/stray.jpg", "x");
  folder.write("models/b.jpg", "x");
  const auto images = read_class_folders(folder.path());
  EXPECT_THAT(images.classes, ElementsAre("cat"));
  EXPECT_THAT(images.notes, testing::UnorderedElementsAre(HasSubstr("'models' is no split"),
                                                          HasSubstr("1 pictures lie in"),
                                                          HasSubstr("'empty' has no pictures")));
}

TEST(ClassFolders, PicturesAloneHaveNoLabels) {
  const TemporaryFolder folder;
  folder.write("b10.jpg", "x");
  folder.write("b9.jpg", "x");
  const auto images = read_class_folders(folder.path());
  EXPECT_THAT(images.classes, IsEmpty());
  ASSERT_EQ(images.samples.size(), 2u);
  EXPECT_EQ(images.samples[0].path, folder / "b9.jpg");
}

TEST(ClassFolders, NothingToReadIsAnError) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_class_folders(folder.path()), InputError);
  EXPECT_THROW(read_class_folders(folder / "none"), InputError);
  folder.write("train/a.jpg", "x");
  EXPECT_THAT([&] { read_class_folders(folder.path()); },
              testing::ThrowsMessage<InputError>(HasSubstr("no class folders")));
}

}  // namespace
}  // namespace vitascope::datasets
