#include "datasets/duplicates.h"

#include <gmock/gmock.h>

#include "tests/cli/run_program.h"

namespace vitascope::datasets {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using tests::TemporaryFolder;

Sample file(const std::string& path, Split split, int label) {
  Sample sample;
  sample.path = path;
  sample.split = split;
  sample.labels = {label};
  return sample;
}

std::vector<std::vector<std::size_t>> duplicates(const LabelledImages& images) {
  std::vector<Fingerprint> fingerprints;
  for (const Sample& sample : images.samples) fingerprints.push_back(fingerprint(images, sample));
  return find_duplicates(images, fingerprints);
}

TEST(Duplicates, EqualFilesAreFoundAndSaidWhatTheySpoil) {
  const TemporaryFolder folder;
  LabelledImages images;
  images.samples = {file(folder.write("a", "one"), Split::train, 0),
                    file(folder.write("b", "two"), Split::train, 0),
                    file(folder.write("c", "one"), Split::validation, 0),
                    file(folder.write("d", "two"), Split::train, 0),
                    file(folder.write("e", "six"), Split::train, 0),
                    file(folder.write("f", "six"), Split::test, 1),
                    file(folder / "missing", Split::train, 0),
                    file(folder / "missing too", Split::train, 0)};
  const auto groups = duplicates(images);
  ASSERT_THAT(groups, ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3), ElementsAre(4, 5)));
  EXPECT_EQ(duplicate_kind(images, groups[0]), DuplicateKind::splits);
  EXPECT_EQ(duplicate_kind(images, groups[1]), DuplicateKind::same_use);
  EXPECT_EQ(duplicate_kind(images, groups[2]), DuplicateKind::labels);
}

TEST(Duplicates, AFingerprintAloneProvesNothing) {
  const TemporaryFolder folder;
  LabelledImages images;
  images.samples = {file(folder.write("a", "one"), Split::train, 0),
                    file(folder.write("b", "two"), Split::train, 0)};
  EXPECT_THAT(find_duplicates(images, {{3, 17}, {3, 17}}), IsEmpty());
}

TEST(Duplicates, AFileListedTwiceIsOne) {
  const TemporaryFolder folder;
  LabelledImages images;
  const std::string path = folder.write("a", "one");
  images.samples = {file(path, Split::train, 0), file(path, Split::train, 0)};
  EXPECT_THAT(duplicates(images), IsEmpty());
}

TEST(Duplicates, OfStoredPictures) {
  LabelledImages images;
  images.stored = std::make_shared<StoredPictures>(StoredPictures{{2, 1}, 1, {1, 2, 3, 4, 1, 2}});
  for (std::size_t i = 0; i < 3; ++i) {
    images.samples.push_back(file("x#" + std::to_string(i), Split::train, 0));
    images.samples.back().stored = i;
  }
  EXPECT_THAT(duplicates(images), ElementsAre(ElementsAre(0, 2)));
}

TEST(Fingerprint, IsLengthAndCrc32) {
  // The check value of CRC-32, of the digits 1 to 9.
  const std::string digits = "123456789";
  EXPECT_EQ(fingerprint(std::as_bytes(std::span(digits))), (Fingerprint{9, 0xCBF43926}));
}

}  // namespace
}  // namespace vitascope::datasets
