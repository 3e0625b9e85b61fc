#include "app/report/report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <opencv2/imgproc.hpp>
#include <regex>

#include "tests/app/report/page_data.h"
#include "tests/app/report/sample_report.h"
#include "vit/error.h"
#include "vit/file.h"

namespace vitascope::app::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using tests::data_of;
using tests::decoded;
using tests::expect_near;
using tests::hostile_report;
using tests::sample_report;

TEST(Report, CarriesMapsWithinHalfAStep) {
  const Report report = sample_report();
  const auto data = nlohmann::json::parse(data_of(render(report)));
  ASSERT_EQ(data["layers"].size(), report.layers.size());
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    expect_near(data["layers"][i]["heads"], 1, report.layers[i].heads, 196);
    expect_near(data["layers"][i]["patches"], 0, report.layers[i].patches, 196);
  }
  expect_near(data["methods"][2]["map"], 0, report.methods[2].values, 196);
}

TEST(Report, PutsTheMeanOfTheHeadsFirst) {
  const auto data = nlohmann::json::parse(data_of(render(hostile_report())));
  const auto& heads = data["layers"][0]["heads"];
  // Heads {1, 2, 3, 4, 5, 9} and {7, 7, 7, 7, 7, 7}.
  EXPECT_EQ(heads["low"], (nlohmann::json{4, 1, 7}));
  EXPECT_EQ(heads["high"], (nlohmann::json{8, 9, 7}));
  EXPECT_EQ(decoded(heads["levels"])[4], 128);  // 6 lies in the middle of 4 and 8
}

TEST(Report, SaysWhereTheCellsLie) {
  const auto data = nlohmann::json::parse(data_of(render(hostile_report())));
  EXPECT_EQ(data["size"], (nlohmann::json{451, 300}));
  EXPECT_EQ(data["grid"], (nlohmann::json{2, 3}));
  EXPECT_EQ(data["cell"], (nlohmann::json{0, 0, 451.0 / 3, 150}));
  EXPECT_FALSE(data["layers"][0].contains("patches"));
}

TEST(Report, NoTextLeavesItsElement) {
  const std::string page = render(hostile_report());
  const std::string text = data_of(page);
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
  EXPECT_THAT(text, Not(HasSubstr("\u2028")));
  // Our own script, the data, and nothing that came with the texts.
  const std::regex script("<script");
  EXPECT_EQ(std::distance(std::sregex_iterator(page.begin(), page.end(), script), {}), 2);

  const auto data = nlohmann::json::parse(text);
  EXPECT_EQ(data["title"], "</title><script>alert(2)</script>");
  EXPECT_EQ(data["predictions"][0]["label"], "<script>alert(1)</script>");
  EXPECT_EQ(data["predictions"][1]["label"], "\"></script>");
  EXPECT_EQ(data["notes"][1], "<style>*{display:none}</style>");
}

TEST(Report, NamesThatAreNotUtf8AreEscaped) {
  const auto data = nlohmann::json::parse(data_of(render(hostile_report())));
  EXPECT_EQ(data["photo"], "caf\\xE9 <img src=x onerror=alert(4)>.jpg");
}

/// viridis as OpenCV carries it.
TEST(Report, ColoursAreThoseOfViridis) {
  const std::string page = render(hostile_report());
  const std::regex digits("'((?:[0-9a-f]{6})+)'");
  std::string stops;
  for (std::sregex_iterator it(page.begin(), page.end(), digits), end; it != end; ++it) {
    stops += (*it)[1];
  }
  ASSERT_EQ(stops.size(), 52u * 6);
  cv::Mat levels(1, 52, CV_8UC1), colours;
  for (int i = 0; i < 52; ++i) levels.at<unsigned char>(0, i) = static_cast<unsigned char>(5 * i);
  cv::applyColorMap(levels, colours, cv::COLORMAP_VIRIDIS);
  for (int i = 0; i < 52; ++i) {
    const auto& bgr = colours.at<cv::Vec3b>(0, i);
    EXPECT_EQ(stops.substr(static_cast<std::size_t>(i) * 6, 6),
              fmt::format("{:02x}{:02x}{:02x}", bgr[2], bgr[1], bgr[0]));
  }
}

TEST(Report, WeighsLittle) {
  Report report = sample_report();
  report.jpeg.clear();
  const std::string page = render(report);
  std::cout << "a page of ViT-B/16 without its photo: " << page.size() << " bytes\n";
  EXPECT_LT(page.size(), 800'000u);
  report.jpeg = std::string(3'000'000, 'x');  // a photo of 24 megapixels
  EXPECT_LT(render(report).size(), 6'000'000u);
}

std::string message(const Report& report) {
  try {
    render(report);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

TEST(Report, RefusesMapsOfAnotherSize) {
  Report report = hostile_report();
  report.methods[0].values.pop_back();
  EXPECT_EQ(message(report), "report: the map '<b>Bold</b>' holds 5 values, expected 6");
  report = hostile_report();
  report.layers[0].heads.pop_back();
  EXPECT_THAT(message(report), HasSubstr("layer 0 holds 11 values"));
  report = hostile_report();
  report.layers[0].patches.resize(30);
  EXPECT_THAT(message(report), HasSubstr("and 30 of patches"));
  report = hostile_report();
  report.layers.push_back({1, std::vector<float>(6), {}});  // one head, not two
  EXPECT_THAT(message(report), HasSubstr("layer 1 holds 6 values"));
  report = hostile_report();
  report.methods[0].values[2] = NAN;
  EXPECT_EQ(message(report), "report: <b>Bold</b> holds NaN or infinity");
}

TEST(Report, IsWrittenOnce) {
  const std::string path = testing::TempDir() + "/vitascope-report.html";
  std::filesystem::remove(path);
  write_html(path, hostile_report(), false);
  EXPECT_EQ(read_file(path, 10'000'000), render(hostile_report()));
  EXPECT_THROW(write_html(path, hostile_report(), false), UsageError);
  write_html(path, sample_report(), true);
  EXPECT_EQ(read_file(path, 10'000'000), render(sample_report()));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace vitascope::app::report
