#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/golden_logits.h"
#include "tests/cli/run_program.h"

namespace vitascope::tests {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class Attend : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return folder_ / name; }

  /// Runs attend on the first golden photo with a small model.
  Finished attend(std::vector<std::string> arguments, const std::string& model = "models/hf-vit") {
    arguments.insert(arguments.begin(), {"attend", golden_photos()[0], "--model", golden(model)});
    return run_program(arguments);
  }

  /// attend must refuse, write nothing, and say `expected`.
  void expect_refusal(const std::vector<std::string>& arguments, const std::string& expected,
                      const std::string& model = "models/hf-vit") {
    const Finished finished = attend(arguments, model);
    EXPECT_EQ(finished.status, 2) << finished.err;
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, HasSubstr(expected));
    EXPECT_EQ(finished.errors().size(), 1u) << finished.err;
    EXPECT_TRUE(fs::is_empty(folder_.path()));
  }

  const TemporaryFolder folder_;
};

TEST_F(Attend, SavesTheAttentionOfPython) {
  const auto expected = weights::read_safetensors(golden("models/hf-vit/expected.safetensors"));
  const Values attention = values_of(expected, "attentions.0");  // [photos, heads, N, N]
  const Finished finished = attend({"--layer", "0", "--head", "1", "--output", at("a.png"),
                                    "--save-map", at("a.json"), "--quiet"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json map = json::parse(file_text(at("a.json")));
  EXPECT_EQ(map["method"], "raw");
  EXPECT_EQ(map["layer"], 0);
  EXPECT_EQ(map["heads"], "1");
  EXPECT_TRUE(map["class"].is_null());
  const auto heads = static_cast<std::size_t>(attention.shape[1]);
  const auto tokens = static_cast<std::size_t>(attention.shape[3]);
  ASSERT_GT(heads, 1u);
  const std::size_t rows = map["grid"][0], columns = map["grid"][1];
  ASSERT_EQ(rows * columns, tokens - 1);
  const double width = map["photo"][0], height = map["photo"][1];
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const std::size_t key = 1 + row * columns + column;
      EXPECT_NEAR(map["values"][row][column].get<double>(),
                  attention.numbers[1 * tokens * tokens + key], 1e-5);
      const json& cell = map["cells"][row][column];
      EXPECT_LT(cell[0], cell[2]);
      EXPECT_LE(cell[2].get<double>(), width + 1e-6);
      EXPECT_LE(cell[3].get<double>(), height + 1e-6);
    }
  }
}

TEST_F(Attend, WritesAPictureOfThePhotosWidth) {
  const Finished finished = attend({"--output", at("a.png"), "--format", "json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json result = json::parse(finished.out);
  EXPECT_EQ(result["output"], at("a.png"));
  ASSERT_EQ(result["maps"].size(), 1u);
  EXPECT_EQ(result["maps"][0]["method"], "raw");
  const std::string png = file_text(at("a.png"));
  EXPECT_THAT(png, testing::StartsWith("\x89PNG"));
}

TEST_F(Attend, EveryMethodGivesAMap) {
  const Finished finished =
      attend({"--method",
              "raw,rollout,gradient-rollout,relevance,gradcam,legrad,random,"
              "occlusion,rise",
              "--rise-masks", "20", "--output", at("a.webp"), "--format", "json", "--quiet"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json result = json::parse(finished.out);
  ASSERT_EQ(result["maps"].size(), 9u);
  for (const json& map : result["maps"]) {
    EXPECT_TRUE(std::isfinite(map["greatest"].get<double>())) << map;
  }
}

TEST_F(Attend, WritesAPageWithoutNetwork) {
  const Finished finished =
      attend({"--method", "raw,relevance,random", "--html", at("page.html"), "--quiet"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const std::string page = file_text(at("page.html"));
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy"));
  EXPECT_THAT(page, HasSubstr("relevance"));
  EXPECT_THAT(page, testing::Not(HasSubstr("http://")));
}

TEST_F(Attend, AFolderGetsAPictureForEachPhoto) {
  const Finished finished =
      run_program({"attend", golden_photos()[0], golden_photos()[1], golden_photos()[0], "--model",
                   golden("models/hf-vit"), "--output", at("maps/new"), "--contact-sheet",
                   at("sheet.png"), "--quiet"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(std::distance(fs::directory_iterator(at("maps/new")), fs::directory_iterator()), 3);
  EXPECT_TRUE(fs::exists(at("sheet.png")));
}

TEST_F(Attend, APhotoThatFailsIsNamedAndTheOthersAreDone) {
  std::ofstream(at("broken.jpg")) << "no photo";
  const Finished finished =
      run_program({"attend", at("broken.jpg"), golden_photos()[0], "--model",
                   golden("models/hf-vit"), "--output", at("maps"), "--quiet"});
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr("broken.jpg"));
  EXPECT_EQ(std::distance(fs::directory_iterator(at("maps")), fs::directory_iterator()), 1);
}

TEST_F(Attend, RefusesWhatIsNotThere) {
  expect_refusal({"--output", at("a.png"), "--layer", "99"}, "--layer 99: the model has");
  expect_refusal({"--output", at("a.png"), "--head", "99"}, "--head '99': the model has");
  expect_refusal({"--output", at("a.png"), "--head", "best"}, "or mean, max, min");
  expect_refusal({"--output", at("a.png"), "--class", "no such thing"}, "--class 'no such thing'");
  expect_refusal({"--output", at("a.png"), "--class", "9999"}, "--class 9999: the model has");
  expect_refusal({"--output", at("a.png"), "--method", "rolout"}, "rollout");
  expect_refusal({"--output", at("a.png"), "--from", "here"}, "expected A,B");
  expect_refusal({"--output", at("a.png"), "--clip", "60,40"}, "LOW < HIGH");
  expect_refusal({"--output", at("a.png"), "--method", "rollout", "--from", "3,3"}, "--from");
  expect_refusal({"--output", at("a.png"), "--method", "rollout", "--grid", "heads"}, "--grid");
  expect_refusal({}, "--output takes one");
  expect_refusal({"--output", at("a.gif")}, ".png");
  expect_refusal({"--output", at("a.png"), "--save-map", at("a.txt")}, ".json nor .npy");
  expect_refusal({"--output", at("a.png"), "--save-map", at("a.npy"), "--grid", "heads"},
                 "--save-map holds one map");
}

TEST_F(Attend, APhotoSmallerThanAPatchIsNamed) {
  const Finished finished =
      run_program({"attend", golden("images/odd_1x1.png"), "--model", golden("models/hf-vit"),
                   "--resize", "none", "--crop", "none", "--output", at("a.png"), "--quiet"});
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr("odd_1x1.png: input of 1 x 1 pixels"));
  EXPECT_THAT(finished.err, HasSubstr("patch edge 8"));
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(Attend, OverwritesNothingUnasked) {
  ASSERT_EQ(attend({"--output", at("a.png"), "--quiet"}).status, 0);
  const std::string before = file_text(at("a.png"));
  const Finished again = attend({"--output", at("a.png"), "--colours", "turbo", "--quiet"});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("--force"));
  EXPECT_EQ(file_text(at("a.png")), before);
  EXPECT_EQ(attend({"--output", at("a.png"), "--colours", "turbo", "--force", "--quiet"}).status,
            0);
  EXPECT_NE(file_text(at("a.png")), before);
}

TEST_F(Attend, APointThatTheNetworkDoesNotSeeIsSaid) {
  const Finished finished = attend({"--output", at("a.png"), "--from", "100000,3", "--quiet"});
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr("does not see that point"));
  EXPECT_FALSE(fs::exists(at("a.png")));
}

}  // namespace
}  // namespace vitascope::tests
