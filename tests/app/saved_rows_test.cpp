#include "app/saved_rows.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/run_program.h"
#include "vit/error.h"

namespace vitascope::app {
namespace {

using tests::file_text;

class SavedRowsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "vitascope-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(SavedRowsTest, GathersRowsAsFloats) {
  SavedRows rows("x");
  EXPECT_EQ(rows.shape(), std::vector<std::int64_t>{0});
  rows.add(at::arange(6, at::kFloat).reshape({2, 3}), "a");
  rows.add(at::arange(6, at::kFloat).reshape({3, 2}).t(), "b");  // not contiguous
  rows.add(at::full({2, 3}, 0.5, at::kBFloat16), "c");
  EXPECT_EQ(rows.shape(), (std::vector<std::int64_t>{3, 2, 3}));
  EXPECT_THAT(rows.row(0), testing::ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(rows.row(1), testing::ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THAT(rows.row(2), testing::Each(0.5f));
  EXPECT_EQ(rows.tensor().name, "x");
  EXPECT_EQ(rows.tensor().bytes.size(), 18 * sizeof(float));
}

TEST_F(SavedRowsTest, AnotherShapeIsRefusedAndChangesNothing) {
  SavedRows rows("pixel_values");
  rows.add(at::zeros({3, 4}), "a.jpg");
  try {
    rows.add(at::zeros({4, 3}), "b.jpg");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), "b.jpg");
    EXPECT_THAT(error.what(), testing::HasSubstr("pixel_values is [4, 3] here and [3, 4]"));
  }
  EXPECT_EQ(rows.count(), 1u);
}

TEST_F(SavedRowsTest, CsvGivesTheNumbersBack) {
  SavedRows rows("x");
  rows.add(at::tensor({0.1f, -3.0f}), "a");
  rows.add(at::tensor({1e-8f, 16777216.0f}), "b");
  write_csv(folder_ + "/x.csv", {"a,b.jpg", "=c.jpg"}, rows, false);
  EXPECT_EQ(file_text(folder_ + "/x.csv"),
            "path,f0,f1\n\"a,b.jpg\",0.100000001,-3\n'=c.jpg,9.99999994e-09,16777216\n");
}

TEST_F(SavedRowsTest, NpyBeginsAtAMultipleOf64WhateverTheShape) {
  for (const std::int64_t width : {1, 12, 123456}) {
    SavedRows rows("x");
    rows.add(at::ones({width}), "a");
    const std::string path = folder_ + "/x.npy";
    write_npy(path, rows, true);
    const std::string bytes = file_text(path);
    const std::size_t start = bytes.size() - static_cast<std::size_t>(width) * sizeof(float);
    EXPECT_EQ(start % 64, 0u);
    EXPECT_EQ(bytes[start - 1], '\n');
    EXPECT_THAT(bytes.substr(0, start),
                testing::HasSubstr("'shape': (1, " + std::to_string(width) + ",)"));
  }
}

TEST_F(SavedRowsTest, MetadataSurvivesAnyFileName) {
  const auto metadata = saved_metadata({"a\xff.jpg", "b \"c\".jpg"}, "m\x1b");
  EXPECT_EQ(nlohmann::json::parse(metadata.at("paths")),
            nlohmann::json({"a\uFFFD.jpg", "b \"c\".jpg"}));
  EXPECT_EQ(metadata.at("model"), "m\\x1B");
}

}  // namespace
}  // namespace vitascope::app
