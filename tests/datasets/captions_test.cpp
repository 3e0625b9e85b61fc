#include "datasets/captions.h"

#include <gmock/gmock.h>

#include "tests/cli/run_program.h"
#include "tests/input_error.h"

namespace vitascope::datasets {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using tests::TemporaryFolder;

constexpr const char* kTokens = "a.jpg#0\tx\nb.jpg#0\tx\nc.jpg#0\tx\n";

std::vector<std::string> paths_of(const CaptionedImages& images, const TemporaryFolder& folder) {
  std::vector<std::string> paths;
  for (const CaptionedImage& photo : images.photos)
    paths.push_back(photo.path.substr(folder.path().size() + 1));
  return paths;
}

std::vector<Split> splits_of(const CaptionedImages& images) {
  std::vector<Split> splits;
  for (const CaptionedImage& photo : images.photos) splits.push_back(photo.split);
  return splits;
}

TEST(OpenCaptions, PhotosAreFoundWhereSuchDataHasThem) {
  for (const char* photos : {"text/", "text/Images/", "", "Flicker8k_Dataset/"}) {
    const TemporaryFolder folder;
    const std::string file = folder.write("text/captions.txt", kTokens);
    folder.write("other/a.jpg", "");
    for (const char* name : {"a.jpg", "b.jpg", "c.jpg"})
      folder.write(std::string(photos) + name, "");
    const CaptionedImages images = open_captions(file);
    EXPECT_THAT(paths_of(images, folder),
                ElementsAre(std::string(photos) + "a.jpg", std::string(photos) + "b.jpg",
                            std::string(photos) + "c.jpg"));
    EXPECT_THAT(images.notes, IsEmpty());
  }
}

TEST(OpenCaptions, MissingPhotosAreToldAndLeftOut) {
  const TemporaryFolder folder;
  const std::string file = folder.write("captions.txt", kTokens);
  folder.write("photos/b.jpg", "");
  const CaptionedImages images = open_captions(file, folder / "photos");
  EXPECT_THAT(paths_of(images, folder), ElementsAre("photos/b.jpg"));
  EXPECT_THAT(images.notes,
              ElementsAre(AllOf(HasSubstr("2 of 3 photos"), HasSubstr("a.jpg, c.jpg"))));
  EXPECT_THAT(tests::input_error([&] { open_captions(file, folder / "none"); }),
              AllOf(HasSubstr("captions.txt: "), HasSubstr("3 photos"), HasSubstr("/none")));
  std::filesystem::remove(folder / "photos/b.jpg");
  EXPECT_THAT(tests::input_error([&] { open_captions(file); }), HasSubstr("near it"));
}

TEST(OpenCaptions, ListsBesideGiveTheSplits) {
  const TemporaryFolder folder;
  const std::string file = folder.write("captions.txt", std::string(kTokens) + "d.jpg#0\tx\n");
  for (const char* name : {"a.jpg", "b.jpg", "c.jpg", "d.jpg"}) folder.write(name, "");
  folder.write("Flickr_8k.trainImages.txt", "b.jpg\nz.jpg\n");
  folder.write("Flickr_8k.devImages.txt", "c.jpg\n");
  folder.write("Flickr_8k.testImages.txt", "a.jpg\n");
  const CaptionedImages images = open_captions(file);
  EXPECT_THAT(splits_of(images),
              ElementsAre(Split::test, Split::train, Split::validation, Split::none));
  EXPECT_THAT(images.notes,
              ElementsAre(AllOf(HasSubstr("1 photos are in none"), HasSubstr("d.jpg")),
                          HasSubstr("name 1 photos that have no captions")));
  folder.write("Flickr_8k.testImages.txt", "b.jpg\n");
  EXPECT_THAT(tests::input_error([&] { open_captions(file); }),
              AllOf(HasSubstr("Images.txt: "), HasSubstr("b.jpg"), HasSubstr("also listed")));
}

TEST(OpenCaptions, SplitValidationIsSeededAndByPhoto) {
  CaptionedImages images;
  for (int i = 0; i < 20; ++i)
    images.photos.push_back({"p/" + std::to_string(i) + ".jpg", {"x", "y"}, Split::none, ""});
  images.photos[0].split = Split::test;
  CaptionedImages same = images, other = images;
  split_validation(images, 0.25, 1);
  split_validation(same, 0.25, 1);
  split_validation(other, 0.25, 2);
  EXPECT_THAT(photos_of(images, Split::validation), SizeIs(5));
  EXPECT_THAT(photos_of(images, Split::train), SizeIs(14));
  EXPECT_EQ(images.photos[0].split, Split::test);
  EXPECT_EQ(splits_of(images), splits_of(same));
  EXPECT_NE(splits_of(images), splits_of(other));
  EXPECT_THROW(split_validation(images, 1.5, 1), UsageError);
}

TEST(ReadCaptions, AFileThatIsNotThereIsNamed) {
  EXPECT_THAT(tests::input_error([] { read_captions("/no/such"); }), HasSubstr("/no/such"));
}

}  // namespace
}  // namespace vitascope::datasets
