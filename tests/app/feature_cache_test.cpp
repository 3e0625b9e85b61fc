#include "app/feature_cache.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/run_program.h"
#include "tests/golden.h"
#include "vit/weights/safetensors.h"

namespace vitascope::app {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using tests::TemporaryFolder;

class FeatureCacheTest : public testing::Test {
 protected:
  /// Two rows of three numbers under the key "k".
  void write() const {
    FeatureCache cache(path, "k");
    cache.add("a", at::arange(3, at::kFloat) / 3);
    cache.add("b", at::full({3}, -1.5));
    cache.save();
  }

  /// What is wrong with the file, which is then replaced by what one computes anew.
  std::string fault(const std::string& key = "k") const {
    FeatureCache cache(path, key);
    EXPECT_EQ(cache.size(), 0u);
    EXPECT_FALSE(cache.find("a"));
    cache.add("a", at::ones({4}));
    cache.save();
    const FeatureCache again(path, key);
    EXPECT_THAT(again.note(), IsEmpty());
    EXPECT_EQ(again.size(), 1u);
    return cache.note();
  }

  const TemporaryFolder folder;
  const std::string path = folder.path() + "/features.safetensors";
};

TEST_F(FeatureCacheTest, GivesBackWhatWasAdded) {
  write();
  FeatureCache cache(path, "k");
  EXPECT_THAT(cache.note(), IsEmpty());
  ASSERT_EQ(cache.size(), 2u);
  EXPECT_TRUE(at::equal(*cache.find("a"), at::arange(3, at::kFloat) / 3));
  EXPECT_TRUE(at::equal(*cache.find("b"), at::full({3}, -1.5)));
  EXPECT_FALSE(cache.find("c"));
  cache.add("c", at::zeros({3}));
  cache.save();
  EXPECT_EQ(FeatureCache(path, "k").size(), 3u) << "what was there stays";
}

TEST_F(FeatureCacheTest, PhotosThatCannotBeToldApartAreNotKept) {
  FeatureCache cache(path, "k");
  cache.add("", at::ones({3}));
  EXPECT_FALSE(cache.find(""));
  cache.save();
  EXPECT_FALSE(std::filesystem::exists(path)) << "nothing to keep, nothing written";
}

TEST_F(FeatureCacheTest, FeaturesOfAnotherModelAreNotTaken) {
  write();
  EXPECT_THAT(fault("another"), HasSubstr("another model"));
}

TEST_F(FeatureCacheTest, DamagedNumbersAreNotTaken) {
  write();
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-2, std::ios::end);
  file.put(0x40);
  file.close();
  EXPECT_THAT(fault(), HasSubstr("damaged"));
}

TEST_F(FeatureCacheTest, CutOffFilesAreNotTaken) {
  write();
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4);
  EXPECT_THAT(fault(), HasSubstr("computed anew"));
}

TEST_F(FeatureCacheTest, OtherFilesAreNotTaken) {
  folder.write("features.safetensors", "no tensors at all");
  EXPECT_THAT(fault(), HasSubstr("computed anew"));
  weights::write_safetensors(path, {}, {{"feature_key", "k"}}, /*force=*/true);
  EXPECT_THAT(fault(), HasSubstr("holds no features"));
}

TEST(FeatureKey, TellsModelsApart) {
  const weights::Model model = weights::open_model(vitascope::tests::golden("models/hf-vit"));
  const std::string key = feature_key(model, at::kFloat);
  EXPECT_EQ(feature_key(weights::open_model(vitascope::tests::golden("models/hf-vit")), at::kFloat),
            key);
  EXPECT_NE(feature_key(model, at::kBFloat16), key);
  const auto changed = [&](const std::string& parameter) {
    weights::Model other = model;
    for (const auto& [name, slot] : other.network.parameters()) {
      if (name != parameter) continue;
      *slot = slot->clone();
      slot->flatten()[0] += 1e-3;
    }
    return feature_key(other, at::kFloat);
  };
  EXPECT_NE(changed("blocks.1.mlp.fc2.bias"), key);
  EXPECT_EQ(changed("head.weight"), key) << "features come before it";
  weights::Model other = model;
  other.specification->mean[1] += 0.01f;
  EXPECT_NE(feature_key(other, at::kFloat), key);
}

TEST(PhotoKey, TellsPicturesApart) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.jpg", "x");
  datasets::LabelledImages images;
  const auto key = [&] { return photo_key(images, {path, {}, {}}); };
  const std::string first = key();
  EXPECT_EQ(key(), first);
  folder.write("a.jpg", "xy");
  EXPECT_NE(key(), first);
  const std::string second = key();
  std::filesystem::last_write_time(
      path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
  EXPECT_NE(key(), second);
  std::filesystem::remove(path);
  EXPECT_EQ(key(), "");

  images.stored =
      std::make_shared<datasets::StoredPictures>(datasets::StoredPictures{{2, 1}, 1, {1, 2, 1, 3}});
  EXPECT_NE(photo_key(images, {"f", 0, {}}), photo_key(images, {"f", 1, {}}));
}

}  // namespace
}  // namespace vitascope::app
