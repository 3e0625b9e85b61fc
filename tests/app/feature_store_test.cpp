#include "app/feature_store.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/run_program.h"
#include "vit/error.h"

namespace vitascope::app {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using tests::TemporaryFolder;

class FeatureStoreTest : public testing::Test {
 protected:
  FeatureStore opened(const std::string& key = "k", std::int64_t width = 6) const {
    return FeatureStore(folder.path(), key, width);
  }
  void write() const {
    FeatureStore store = opened();
    store.reserve(3);
    store.add("a", at::arange(6, at::kFloat).view({2, 3}));
    store.add("b", at::full({6}, -1.5, at::kDouble));
    store.save();
  }

  const TemporaryFolder folder;
};

TEST_F(FeatureStoreTest, GivesBackWhatWasAddedAndTakesMore) {
  write();
  FeatureStore store = opened();
  EXPECT_THAT(store.note(), IsEmpty());
  ASSERT_EQ(store.find("a"), 0);
  ASSERT_EQ(store.find("b"), 1);
  EXPECT_EQ(store.find("c"), std::nullopt);
  store.reserve(1);
  EXPECT_EQ(store.add("c", at::ones({6})), 2);
  store.save();
  const FeatureStore again = opened();
  ASSERT_EQ(again.find("c"), 2);
  EXPECT_TRUE(at::equal(again.rows()[0], at::arange(6, at::kFloat)));
  EXPECT_TRUE(at::equal(again.rows()[1], at::full({6}, -1.5)));
  EXPECT_TRUE(at::equal(again.rows()[2], at::ones({6})));
}

TEST_F(FeatureStoreTest, WithoutAFolderItIsInMemory) {
  FeatureStore store("", "k", 2);
  store.reserve(1);
  store.add("a", at::ones({2}));
  store.reserve(1);
  store.add("b", at::zeros({2}));
  store.save();
  EXPECT_TRUE(at::equal(store.rows(), at::tensor({1.f, 1.f, 0.f, 0.f}).view({2, 2})));
}

TEST_F(FeatureStoreTest, ItsRowsOutliveIt) {
  at::Tensor rows;
  {
    write();
    FeatureStore store = opened();
    rows = store.rows();
    store.reserve(1000);
  }
  EXPECT_TRUE(at::equal(rows[1], at::full({6}, -1.5)));
}

TEST_F(FeatureStoreTest, ARowWhoseNumbersChangedIsNotFound) {
  write();
  std::fstream file(folder.path() + "/features.f32",
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(3);
  file.put(0x40);
  file.close();
  EXPECT_EQ(opened().find("a"), std::nullopt);
  EXPECT_EQ(opened().find("b"), 1);
}

TEST_F(FeatureStoreTest, WhatIsOfAnotherEncoderOrDamagedIsComputedAnew) {
  write();
  EXPECT_THAT(opened("another").note(), HasSubstr("of another encoder"));
  EXPECT_THAT(opened("k", 5).note(), HasSubstr("damaged"));
  std::filesystem::resize_file(folder.path() + "/features.f32", 44);
  EXPECT_THAT(opened().note(), HasSubstr("damaged"));
  folder.write("features.json", "[1");
  FeatureStore store = opened();
  EXPECT_THAT(store.note(), HasSubstr("computed anew"));
  EXPECT_EQ(store.find("a"), std::nullopt);
  store.reserve(1);
  EXPECT_EQ(store.add("b", at::ones({6})), 0);
  store.save();
  EXPECT_EQ(opened().find("b"), 0);
}

TEST_F(FeatureStoreTest, WhatWasNotSavedIsNotThere) {
  write();
  FeatureStore store = opened();
  store.reserve(1);
  store.add("c", at::ones({6}));
  EXPECT_EQ(opened().find("c"), std::nullopt);
}

TEST_F(FeatureStoreTest, ADiskWithoutRoomIsAFailure) {
  FeatureStore store = opened();
  EXPECT_THROW(store.reserve(std::int64_t{1} << 58), FailureError);
  EXPECT_THROW(FeatureStore(folder.path() + "/none", "k", 6).reserve(1), FailureError);
}

}  // namespace
}  // namespace vitascope::app
