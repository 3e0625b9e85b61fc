#include "datasets/cifar.h"

#include <gmock/gmock.h>

#include "tests/cli/run_program.h"
#include "vit/error.h"

namespace vitascope::datasets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::TemporaryFolder;

/// Labels, then three planes of one level each.
std::string record(const std::string& labels, const char* levels) {
  std::string text = labels;
  for (int c = 0; c < 3; ++c) text += std::string(32 * 32, levels[c]);
  return text;
}

constexpr const char* kNames = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n";

TEST(Cifar, TenClasses) {
  const TemporaryFolder folder;
  EXPECT_FALSE(is_cifar_folder(folder.path()));
  folder.write("data_batch_1.bin", record("\x03", "RGB") + record("\x09", "xyz"));
  folder.write("data_batch_2.bin", record(std::string(1, '\0'), "rgb"));
  folder.write("test_batch.bin", record("\x01", "123"));
  folder.write("batches.meta.txt", kNames);
  ASSERT_TRUE(is_cifar_folder(folder.path()));
  const auto images = read_cifar(folder.path());
  EXPECT_EQ(images.classes.size(), 10u);
  EXPECT_EQ(images.classes[3], "d");
  ASSERT_EQ(images.samples.size(), 4u);
  EXPECT_THAT(images.samples[0].labels, ElementsAre(3));
  EXPECT_THAT(images.samples[2].labels, ElementsAre(0));
  EXPECT_EQ(images.samples[3].split, Split::test);
  EXPECT_EQ(images.samples[3].path, folder / "test_batch.bin#0");
  const image::Picture picture = decode(images, images.samples[1]);
  EXPECT_EQ(picture.size, (image::Size{32, 32}));
  EXPECT_EQ(picture.rgb.size(), 32u * 32 * 3);
  EXPECT_EQ(picture.rgb[3069], 'x');
  EXPECT_EQ(picture.rgb[3070], 'y');
  EXPECT_EQ(picture.rgb[3071], 'z');
  EXPECT_EQ(decode(images, images.samples[3]).rgb[0], '1');
}

TEST(Cifar, AHundredClassesUseTheFineLabel) {
  const TemporaryFolder folder;
  folder.write("train.bin", record("\x05\x63", "abc"));
  folder.write("test.bin", record("\x05\x07", "abc"));
  const auto images = read_cifar(folder.path());
  EXPECT_THAT(images.samples[0].labels, ElementsAre(7));
  EXPECT_THAT(images.samples[1].labels, ElementsAre(99));
  EXPECT_EQ(images.classes[99], "99");
  EXPECT_THAT(images.notes, ElementsAre(HasSubstr("fine_label_names.txt")));
}

TEST(Cifar, DamageIsNamed) {
  const TemporaryFolder folder;
  folder.write("data_batch_1.bin", record("\x03", "RGB") + "x");
  EXPECT_THAT([&] { read_cifar(folder.path()); },
              testing::ThrowsMessage<InputError>(HasSubstr("has 3074 bytes")));
  folder.write("data_batch_1.bin", record("\x03", "RGB") + record("\x0A", "RGB"));
  EXPECT_THAT([&] { read_cifar(folder.path()); },
              testing::ThrowsMessage<InputError>(HasSubstr("picture 1 (byte 3073): label 10")));
  folder.write("data_batch_1.bin", "");
  EXPECT_THROW(read_cifar(folder.path()), InputError);
  folder.write("data_batch_1.bin", record("\x03", "RGB"));
  folder.write("batches.meta.txt", "a\nb\n");
  EXPECT_THAT([&] { read_cifar(folder.path()); },
              testing::ThrowsMessage<InputError>(HasSubstr("names 2 classes, expected 10")));
}

}  // namespace
}  // namespace vitascope::datasets
