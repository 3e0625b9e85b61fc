#include "datasets/loader.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/golden.h"

namespace vitascope::datasets {
namespace {

using tests::golden;

image::Specification small() {
  image::Specification specification;
  specification.size = {32, 32};
  return specification;
}

/// Names and sizes of the pictures that the manifest calls good.
struct Good {
  std::vector<std::string> paths;
  std::vector<image::Size> sizes;
};

Good good_pictures() {
  std::ifstream file(golden("images/manifest.json"));
  const nlohmann::json manifest = nlohmann::json::parse(file);
  Good good;
  for (const nlohmann::json& entry : manifest["files"]) {
    if (entry["expect"] != "ok") continue;
    good.paths.push_back(golden("images/" + entry["file"].get<std::string>()));
    good.sizes.push_back({entry["size"][0], entry["size"][1]});
  }
  return good;
}

LoaderOptions with_threads(int threads) {
  LoaderOptions options;
  options.threads = threads;
  return options;
}

/// Everything that a loader gives, in batches of `count`.
std::vector<Item> all(Loader& loader, std::size_t count) {
  std::vector<Item> items;
  while (true) {
    std::vector<Item> batch = loader.next(count);
    if (batch.empty()) return items;
    EXPECT_LE(batch.size(), count);
    for (Item& item : batch) items.push_back(std::move(item));
  }
}

class LoaderThreads : public testing::TestWithParam<int> {};

TEST_P(LoaderThreads, GivesEveryPhotoInOrderAsTheDecoderAloneWould) {
  const Good good = good_pictures();
  ASSERT_GT(good.paths.size(), 20u);
  Loader loader(good.paths, small(), with_threads(GetParam()));
  const std::vector<Item> items = all(loader, 3);
  ASSERT_EQ(items.size(), good.paths.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(items[i].index, i);
    EXPECT_EQ(items[i].path, good.paths[i]);
    EXPECT_EQ(items[i].size, good.sizes[i]) << items[i].path;
    ASSERT_TRUE(items[i].prepared) << items[i].path << ": " << items[i].error;
    EXPECT_EQ(items[i].error, "");
    EXPECT_GT(items[i].decode_seconds, 0);
    EXPECT_GT(items[i].prepare_seconds, 0);
    const image::Prepared alone = image::prepare(image::decode(good.paths[i]), small());
    EXPECT_TRUE(at::equal(items[i].prepared->pixels, alone.pixels)) << items[i].path;
  }
}

TEST_P(LoaderThreads, BadFilesAreItemsWithAnErrorInTheirPlace) {
  const std::vector<std::string> paths{golden("images/rgb.png"),
                                       golden("images/bad/text.jpg"),
                                       golden("images/bad/x.jpg"),
                                       golden("images/bad/truncated.jpg"),
                                       golden("images/rgb.bmp"),
                                       golden("images/none.jpg"),
                                       golden("images/bad/huge_header.png")};
  Loader loader(paths, small(), with_threads(GetParam()));
  const std::vector<Item> items = all(loader, 4);
  ASSERT_EQ(items.size(), paths.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool good = i == 0 || i == 4;
    EXPECT_EQ(items[i].path, paths[i]);
    EXPECT_EQ(items[i].prepared.has_value(), good) << paths[i];
    EXPECT_EQ(items[i].error.empty(), good) << paths[i];
    EXPECT_EQ(items[i].error.find(paths[i]), std::string::npos) << "the path is not in the message";
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, LoaderThreads, testing::Values(1, 2, 8, 64));

TEST(Loader, DamageIsForgivenWhenAsked) {
  LoaderOptions options;
  options.decode.allow_truncated = true;
  Loader loader({golden("images/bad/truncated.jpg")}, small(), options);
  const std::vector<Item> items = loader.next(1);
  ASSERT_EQ(items.size(), 1u);
  EXPECT_TRUE(items[0].prepared) << items[0].error;
  EXPECT_NE(items[0].warning, "");
}

TEST(Loader, NoPhotosGiveNoItems) {
  Loader loader({}, small(), {});
  EXPECT_TRUE(loader.next(8).empty());
}

TEST(Loader, MorePhotosThanAreKeptAheadCanBeAskedFor) {
  LoaderOptions options = with_threads(4);
  options.ahead = 2;
  Loader loader(std::vector<std::string>(50, golden("images/rgb.png")), small(), options);
  EXPECT_EQ(loader.next(40).size(), 40u);
  EXPECT_EQ(loader.next(40).size(), 10u);
  EXPECT_TRUE(loader.next(40).empty());
}

TEST(Loader, APhotoLargerThanTheLimitOfBytesPassesAlone) {
  for (const int threads : {1, 4}) {
    LoaderOptions options = with_threads(threads);
    options.max_bytes = 1;
    Loader loader(good_pictures().paths, small(), options);
    for (const Item& item : all(loader, 5)) EXPECT_TRUE(item.prepared) << item.error;
  }
}

/// Seconds of CPU that this process has used.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

TEST(Loader, TheLimitOfBytesEndsTheWorkAhead) {
  LoaderOptions options = with_threads(4);
  options.overlap = true;
  options.ahead = 100'000;
  // A prepared photo of 32 x 32 takes 12 kB: no more than ten of the many thousand can be ready.
  options.max_bytes = 120'000;
  Loader loader(std::vector<std::string>(20'000, golden("images/rgb_plain.jpg")), small(), options);
  loader.next(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(cpu_seconds() - before, 0.05);
  for (const Item& item : loader.next(99)) EXPECT_TRUE(item.prepared) << item.error;
}

TEST(Loader, WorkersRestWhileTheModelHasTheCores) {
  LoaderOptions options = with_threads(4);
  options.ahead = 100'000;
  options.max_bytes = std::size_t{1} << 40;
  Loader loader(std::vector<std::string>(20'000, golden("images/rgb.png")), small(), options);
  loader.next(4);
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(cpu_seconds() - before, 0.05);
}

TEST(Loader, WithOverlapWorkersGoOnMeanwhile) {
  LoaderOptions options = with_threads(2);
  options.overlap = true;
  options.ahead = 200;
  Loader loader(std::vector<std::string>(200, golden("images/rgb.png")), small(), options);
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_GT(cpu_seconds() - before, 0.005);
}

TEST(Loader, CanBeDestroyedAtAnyTime) {
  const std::vector<std::string> paths(500, golden("images/rgb.png"));
  for (int i = 0; i < 30; ++i) {
    LoaderOptions options = with_threads(1 + i % 8);
    options.overlap = i % 2 == 0;
    options.max_bytes = i % 3 == 0 ? 1 : std::size_t{256} << 20;
    Loader loader(paths, small(), options);
    if (i % 4 != 0) loader.next(static_cast<std::size_t>(i));
  }
}

TEST(Loader, TakesFilesAndPicturesInMemoryOfALabelledSet) {
  const Good good = good_pictures();
  auto images = std::make_shared<LabelledImages>();
  images->stored =
      std::make_shared<StoredPictures>(StoredPictures{{2, 1}, 1, {0, 0, 255, 255, 9, 9}});
  images->samples = {{good.paths[0], {}, {}}, {"set#0", 0, {}}, {"set#1", 1, {}}};
  Loader loader(images, {2, 0, 1}, small(), with_threads(2));
  const std::vector<Item> items = all(loader, 2);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].path, "set#1");
  EXPECT_EQ(items[0].size, (image::Size{2, 1}));
  ASSERT_TRUE(items[0].prepared);
  // White, with mean and standard deviation .5.
  EXPECT_TRUE(at::allclose(items[0].prepared->pixels, at::ones({3, 32, 32})));
  EXPECT_EQ(items[1].path, good.paths[0]);
  EXPECT_EQ(items[1].size, good.sizes[0]);
  EXPECT_EQ(items[2].index, 2u);
  EXPECT_TRUE(at::allclose(items[2].prepared->pixels, -at::ones({3, 32, 32})));
}

}  // namespace
}  // namespace vitascope::datasets
