#include "datasets/decoded_cache.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/run_program.h"
#include "vit/error.h"

namespace vitascope::datasets {
namespace {

std::shared_ptr<const Decoded> photo(std::uint8_t level, int width) {
  auto made = std::make_shared<Decoded>();
  made->picture.size = {width, 2};
  made->picture.path = "x.jpg";
  made->picture.rgb.assign(static_cast<std::size_t>(width) * 2 * 3, level);
  made->drawn = {width * 4, 8};
  return made;
}

void expect_kept(const DecodedCache& cache, std::size_t sample, std::uint8_t level, int width) {
  const auto found = cache.find(sample);
  ASSERT_NE(found, nullptr) << sample;
  EXPECT_EQ(found->picture.rgb, photo(level, width)->picture.rgb);
  EXPECT_EQ(found->picture.size, (image::Size{width, 2}));
  EXPECT_EQ(found->picture.path, "x.jpg");
  EXPECT_EQ(found->drawn, (image::Size{width * 4, 8}));
}

TEST(DecodedCache, GivesBackWhatItWasGiven) {
  const tests::TemporaryFolder folder;
  DecodedCache memory(1 << 20);
  DecodedCache disk(folder.path());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "nothing to clean up";
  for (DecodedCache* cache : {&memory, &disk}) {
    EXPECT_EQ(cache->find(3), nullptr);
    cache->keep(3, photo(7, 5));
    cache->keep(0, photo(9, 1));
    cache->keep(3, photo(1, 1));  // the first one stays
    expect_kept(*cache, 3, 7, 5);
    expect_kept(*cache, 0, 9, 1);
    EXPECT_EQ(cache->bytes(), 36u);
  }
}

TEST(DecodedCache, WhatDoesNotFitIsNotKept) {
  DecodedCache cache(40);
  cache.keep(0, photo(1, 5));
  cache.keep(1, photo(2, 5));
  cache.keep(2, photo(3, 1));
  expect_kept(cache, 0, 1, 5);
  EXPECT_EQ(cache.find(1), nullptr);
  expect_kept(cache, 2, 3, 1);
}

TEST(DecodedCache, AFolderThatIsNotThere) {
  EXPECT_THROW(DecodedCache("/nowhere/at/all"), FailureError);
}

}  // namespace
}  // namespace vitascope::datasets
