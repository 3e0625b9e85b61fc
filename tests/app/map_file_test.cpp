#include "app/map_file.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "vit/error.h"

namespace vitascope::app {
namespace {

using nlohmann::json;

SavedMap sample() {
  const image::Geometry geometry{{300, 200}, 50, 0, {200, 200}};
  return {"a/photo \"1\".jpg",
          "org/model",
          "raw",
          3,
          "mean",
          {},
          "",
          image::View(geometry, {600, 400}, {600, 400}, 1),
          at::arange(6, at::kFloat).reshape({2, 3})};
}

class MapFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "vitascope-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string text(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string folder_;
};

TEST_F(MapFile, JsonSaysWhereEachValueLies) {
  write_map(folder_ + "/a.json", sample(), false);
  const json map = json::parse(text("a.json"));
  EXPECT_EQ(map["path"], "a/photo \"1\".jpg");
  EXPECT_EQ(map["grid"], (json{2, 3}));
  EXPECT_EQ(map["photo"], (json{600, 400}));
  EXPECT_EQ(map["values"][1][0], 3);
  EXPECT_TRUE(map["class"].is_null());
  // The crop takes columns 100 to 500 of the photo.
  EXPECT_NEAR(map["cells"][0][0][0], 100, 1e-9);
  EXPECT_NEAR(map["cells"][0][1][0], 100 + 400.0 / 3, 1e-9);
  EXPECT_NEAR(map["cells"][1][2][3], 400, 1e-9);
}

TEST_F(MapFile, NpyHoldsRowsAndColumns) {
  SavedMap map = sample();
  map.values = map.values.t().contiguous().t();  // not row by row in memory
  write_map(folder_ + "/a.npy", map, false);
  const std::string file = text("a.npy");
  EXPECT_THAT(file, testing::HasSubstr("'shape': (2, 3,)"));
  float last[3];
  std::memcpy(last, file.data() + file.size() - sizeof last, sizeof last);
  EXPECT_THAT(last, testing::ElementsAre(3, 4, 5));
}

TEST_F(MapFile, RefusesOtherEndingsAndExistingFiles) {
  EXPECT_THROW(write_map(folder_ + "/a.txt", sample(), false), UsageError);
  write_map(folder_ + "/a.json", sample(), false);
  EXPECT_THROW(write_map(folder_ + "/a.json", sample(), false), UsageError);
  EXPECT_NO_THROW(write_map(folder_ + "/a.json", sample(), true));
}

}  // namespace
}  // namespace vitascope::app
