#include "datasets/idx.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include "datasets/split.h"
#include "tests/cli/run_program.h"
#include "vit/error.h"

namespace vitascope::datasets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::TemporaryFolder;

std::string big_endian(std::uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
  return text;
}

std::string array(std::vector<std::uint32_t> shape, const std::string& values) {
  std::string text = big_endian(0x800 + static_cast<std::uint32_t>(shape.size()));
  for (const std::uint32_t side : shape) text += big_endian(side);
  return text + values;
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

const std::string kPictures = array({2, 1, 3}, "abcdef");
const std::string kLabels = array({2}, std::string("\x02\x00", 2));

TEST(Idx, PlainAndGzip) {
  const TemporaryFolder folder;
  EXPECT_FALSE(is_idx_folder(folder.path()));
  folder.write("train-images-idx3-ubyte.gz", gzip(kPictures));
  folder.write("train-labels-idx1-ubyte", kLabels);
  folder.write("t10k-images.idx3-ubyte", kPictures);
  folder.write("t10k-labels.idx1-ubyte.gz", gzip(kLabels));
  ASSERT_TRUE(is_idx_folder(folder.path()));
  const auto images = read_idx(folder.path());
  EXPECT_THAT(images.classes, ElementsAre("0", "1", "2"));
  EXPECT_EQ(count_splits(images), (SplitCounts{0, 2, 0, 2}));
  for (const Sample& sample : images.samples) {
    const bool first = sample.path.ends_with("#0");
    EXPECT_THAT(sample.labels, ElementsAre(first ? 2 : 0));
    const image::Picture picture = decode(images, sample);
    EXPECT_EQ(picture.size, (image::Size{3, 1}));
    EXPECT_EQ(std::string(picture.rgb.begin(), picture.rgb.end()),
              first ? "aaabbbccc" : "dddeeefff");
  }
}

TEST(Idx, NamesOfClasses) {
  const TemporaryFolder folder;
  folder.write("train-images-idx3-ubyte", kPictures);
  folder.write("train-labels-idx1-ubyte", kLabels);
  folder.write("classes.txt", "shirt\ncoat\nboot\n");
  EXPECT_THAT(read_idx(folder.path()).classes, ElementsAre("shirt", "coat", "boot"));
  folder.write("classes.txt", "shirt\n");
  EXPECT_THAT([&] { read_idx(folder.path()); },
              testing::ThrowsMessage<InputError>(HasSubstr("names 1 classes")));
}

struct Wrong {
  const char* name;
  std::string images, labels;
  const char* part;
};

class WrongIdx : public testing::TestWithParam<Wrong> {};

TEST_P(WrongIdx, IsRefused) {
  const TemporaryFolder folder;
  folder.write("train-images-idx3-ubyte", GetParam().images);
  folder.write("train-labels-idx1-ubyte", GetParam().labels);
  EXPECT_THAT([&] { read_idx(folder.path()); },
              testing::ThrowsMessage<InputError>(HasSubstr(GetParam().part)));
}

INSTANTIATE_TEST_SUITE_P(
    Errors, WrongIdx,
    testing::Values(
        Wrong{"empty", "", kLabels, "is cut short: 0 bytes"},
        Wrong{"header", kPictures.substr(0, 15), kLabels, "is cut short: 15 bytes"},
        Wrong{"short", kPictures.substr(0, 21), kLabels, "2 x 1 x 3 values, 5 bytes"},
        Wrong{"long", kPictures + "x", kLabels, "7 bytes follow"},
        Wrong{"lies", array({0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, "abc"), kLabels,
              "3 bytes follow"},
        Wrong{"wraps", array({0x80000000, 0x80000000, 4}, ""), kLabels, "0 bytes follow"},
        Wrong{"none", array({0, 1, 3}, ""), array({0}, ""), "0 bytes follow"},
        Wrong{"magic", kLabels + std::string(20, 'x'), kLabels, "begins with 0x00000801"},
        Wrong{"count", kPictures, array({3}, "abc"), "holds 3 labels"},
        Wrong{"gzip", gzip(kPictures).substr(0, 20), kLabels, "damaged gzip: it is cut short"},
        Wrong{"rubbish", "\x1f\x8bxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", kLabels, "damaged gzip"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Idx, FashionMnistOfTheDistribution) {
  const std::string folder = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const auto images = read_idx(folder);
  EXPECT_EQ(count_splits(images), (SplitCounts{0, 60000, 0, 10000}));
  for (const SplitCounts& counts : count_classes(images))
    EXPECT_EQ(counts, (SplitCounts{0, 6000, 0, 1000}));  // as its authors say
}

}  // namespace
}  // namespace vitascope::datasets
