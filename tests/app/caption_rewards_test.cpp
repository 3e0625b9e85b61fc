#include "app/caption_rewards.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <numeric>
#include <string>

#include "vit/error.h"

namespace vitascope::app {
namespace {

using datasets::CaptionedImages;

/// So many photos with a caption each that shares no word with another's, and one for validation.
CaptionedImages photos_of(int count) {
  CaptionedImages images;
  for (int i = 0; i <= count; ++i) {
    const std::string n = std::to_string(i);
    images.photos.push_back(
        {.path = n,
         .captions = {fmt::format("a{0} b{0} c{0} d{0} e{0}", i)},
         .split = i == count ? datasets::Split::validation : datasets::Split::train,
         .id = n});
  }
  return images;
}

std::vector<std::size_t> rows_of(const CaptionedImages& images) {
  std::vector<std::size_t> rows(images.photos.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

caption::Vocabulary vocabulary_of(const CaptionedImages& images) {
  std::vector<caption::Words> captions;
  for (const auto& photo : images.photos) {
    captions.push_back(metrics::tokenize(photo.captions.front()));
  }
  return caption::Vocabulary::build(captions, {.least_count = 1}, metrics::kTokenisation);
}

TEST(CaptionRewards, APhotosCaptionIsWorthMostAndItsEndBelongsToIt) {
  const CaptionedImages images = photos_of(12);
  const caption::Vocabulary vocabulary = vocabulary_of(images);
  const CaptionRewards rewards(images, rows_of(images), vocabulary);
  std::vector<std::int64_t> whole = vocabulary.encode({"a3", "b3", "c3", "d3", "e3"});
  whole.erase(whole.begin());
  // The end alone tells no photos apart; the pairs, triples and fours that end with it do.
  EXPECT_NEAR(rewards(3, whole), 10, 1e-9);
  EXPECT_EQ(rewards(4, whole), 0);
  const std::vector<std::int64_t> cut(whole.begin(), whole.end() - 1);
  EXPECT_LT(rewards(3, cut), 9.9);
  EXPECT_GT(rewards(3, cut), 5);
}

TEST(CaptionRewards, OfAHandfulOfPhotosThereAreNone) {
  const CaptionedImages images = photos_of(9);
  EXPECT_THROW(CaptionRewards(images, rows_of(images), vocabulary_of(images)), UsageError);
}

}  // namespace
}  // namespace vitascope::app
