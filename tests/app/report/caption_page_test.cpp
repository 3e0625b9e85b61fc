#include "app/report/caption_page.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/app/report/page_data.h"
#include "tests/app/report/sample_captions.h"
#include "vit/error.h"

namespace vitascope::app::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using tests::data_of;
using tests::hostile_captions;
using tests::sample_captions;

TEST(CaptionPage, CarriesWeightsWithinHalfAStep) {
  const CaptionPage page = sample_captions();
  const auto data = nlohmann::json::parse(data_of(render(page)));
  EXPECT_EQ(data["grid"], (nlohmann::json{14, 14}));
  ASSERT_EQ(data["photos"].size(), page.photos.size());
  for (std::size_t p = 0; p < page.photos.size(); ++p) {
    const auto& captions = data["photos"][p]["captions"];
    ASSERT_EQ(captions.size(), page.photos[p].captions.size());
    for (std::size_t c = 0; c < captions.size(); ++c) {
      tests::expect_near(captions[c]["maps"], 0, page.photos[p].captions[c].weights, 196);
    }
  }
}

TEST(CaptionPage, SaysWhatWasWrittenAndWhereTheCellsLie) {
  const auto data = nlohmann::json::parse(data_of(render(sample_captions())));
  const auto& photo = data["photos"][0];
  EXPECT_EQ(photo["size"], (nlohmann::json{451, 300}));
  EXPECT_EQ(photo["seen"], (nlohmann::json{90.5, 15.0, 270.0, 270.0}));
  EXPECT_NEAR(photo["cell"][2].get<double>(), 270.0 / 14, 1e-12);
  const auto& caption = photo["captions"][1];
  EXPECT_EQ(caption["text"], "two eyes");
  EXPECT_EQ(caption["score"], -1.9);
  EXPECT_EQ(caption["finished"], true);
  EXPECT_EQ(caption["words"][2], (nlohmann::json{{"text", "<end>"}, {"log_prob", -0.693}}));
  EXPECT_EQ(data["photos"][1]["captions"][0]["words"][1]["place"], 9 * 14 + 8);
  EXPECT_EQ(data["photos"][2]["captions"][0]["finished"], false);
}

TEST(CaptionPage, NoTextLeavesItsElement) {
  const std::string page = render(hostile_captions());
  const std::string text = data_of(page);
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
  EXPECT_THAT(text, Not(HasSubstr("\u2028")));
  // Our own script, the data, and nothing that came with the texts.
  const std::regex script("<script");
  EXPECT_EQ(std::distance(std::sregex_iterator(page.begin(), page.end(), script), {}), 2);

  const auto data = nlohmann::json::parse(text);
  EXPECT_EQ(data["title"], "</title><script>alert(2)</script>");
  EXPECT_EQ(data["photos"][0]["name"], "caf\\xE9 <img src=x onerror=alert(4)>.jpg");
  EXPECT_EQ(data["photos"][0]["captions"][0]["words"][0]["text"], "<script>alert(1)</script>");
  EXPECT_EQ(data["notes"][0], "<style>*{display:none}</style>");
}

std::string message(const CaptionPage& page) {
  try {
    render(page);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

TEST(CaptionPage, RefusesWhatDoesNotFit) {
  CaptionPage page = hostile_captions();
  page.photos[0].captions[1].weights.pop_back();
  EXPECT_EQ(message(page), "report: a caption of 1 words holds 5 weights, expected 6");
  page = hostile_captions();
  page.photos[0].captions[0].weights[3] = NAN;
  EXPECT_EQ(message(page), "report: a caption holds NaN or infinity");
  page = hostile_captions();
  page.photos[0].captions[0].words[2].place = 6;
  EXPECT_EQ(message(page), "report: a word took place 6 of 6");
  page = hostile_captions();
  page.photos[0].name = "a.jpg";
  page.photos[0].captions.clear();
  EXPECT_EQ(message(page), "report: a.jpg has no caption");
}

}  // namespace
}  // namespace vitascope::app::report
