#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/golden_logits.h"
#include "tests/cli/run_program.h"

namespace vitascope::tests {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class AttendAudit : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return folder_ / name; }

  static Finished audit(std::vector<std::string> arguments) {
    const std::vector<std::string> first{
        "attend", "--audit", "--model", golden("models/hf-vit"), "--quiet", "--curve-steps", "4"};
    arguments.insert(arguments.begin(), first.begin(), first.end());
    return run_program(arguments);
  }

  static void expect_refusal(const std::vector<std::string>& arguments, const std::string& says) {
    const Finished finished = run_program(arguments);
    EXPECT_EQ(finished.status, 2) << finished.err;
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, HasSubstr(says));
    EXPECT_EQ(finished.errors().size(), 1u) << finished.err;
  }

  /// Annotations that say: an object in the left half of each golden photo.
  std::string masks(const std::vector<std::string>& photos) const {
    json file{{"images", json::array()},
              {"annotations", json::array()},
              {"categories", {{{"id", 7}, {"name", "cat"}}, {{"id", 8}, {"name", "dog"}}}}};
    for (std::size_t i = 0; i < photos.size(); ++i) {
      file["images"].push_back({{"id", i},
                                {"file_name", fs::path(photos[i]).filename()},
                                {"width", 80},
                                {"height", 60}});
      file["annotations"].push_back({{"id", i},
                                     {"image_id", i},
                                     {"category_id", 7},
                                     {"iscrowd", 0},
                                     {"bbox", {0, 0, 40, 60}},
                                     {"segmentation", {{0, 0, 40, 0, 40, 60, 0, 60}}}});
    }
    std::ofstream(at("instances.json")) << file;
    return at("instances.json");
  }

  const TemporaryFolder folder_;
};

TEST_F(AttendAudit, GivesNumbersWithoutAPicture) {
  const Finished finished =
      audit({golden_photos()[0], "--method", "raw,relevance", "--format", "json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json result = json::parse(finished.out);
  EXPECT_EQ(result["output"], "");
  const json& found = result["audit"];
  ASSERT_EQ(found["maps"].size(), 2u);
  for (const json& map : found["maps"]) {
    for (const char* key : {"deletion", "insertion", "deletion_over_random", "symmetric_gain",
                            "positive_perturbation", "negative_perturbation", "comprehensiveness",
                            "sufficiency", "untrained", "seconds"}) {
      EXPECT_TRUE(map["figures"][key].is_number()) << key;
    }
    EXPECT_EQ(map["deletion"]["patches"].size(), map["deletion"]["probability"].size());
    // Both curves begin and end with the photo and the empty one.
    EXPECT_NEAR(map["deletion"]["probability"].front().get<double>(),
                map["insertion"]["probability"].back().get<double>(), 1e-6);
    EXPECT_EQ(map["cascade"].back()["forgotten"], "embedding");
  }
  EXPECT_FALSE(found["maps"][0]["figures"].contains("other_class"));
  EXPECT_TRUE(found["maps"][1]["figures"].contains("other_class"));
  EXPECT_TRUE(found["random"]["deletion"].is_number());
  for (const char* key :
       {"permutation_distance", "permutation_flips", "uniform_distance", "adversary_divergence",
        "adversary_distance", "gradient_tau", "leave_one_out_tau"}) {
    EXPECT_TRUE(found["weights"][key].is_number()) << key;
  }
  EXPECT_GE(found["verdict"].size(), 3u);
}

TEST_F(AttendAudit, SaysItInWords) {
  const Finished finished = audit({golden_photos()[0]});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("For this photo raw "));
  EXPECT_THAT(finished.out, HasSubstr("Shuffling the last layer's attention weights"));
}

TEST_F(AttendAudit, AFolderIsAudited) {
  fs::create_directories(at("photos/inside"));
  fs::copy(golden_photos()[0], at("photos"));
  fs::copy(golden_photos()[1], at("photos/inside"));
  const Finished finished = audit({"--data", at("photos"), "--audit-parts", "faithfulness",
                                   "--format", "json", "--method", "raw,random"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json population = json::parse(finished.out)["population"];
  EXPECT_EQ(population["photos"], 2);
  EXPECT_EQ(population["maps"][1]["label"], "random");
  const json& deletion = population["maps"][0]["figures"]["deletion"];
  EXPECT_LE(deletion["low"], deletion["mean"]);
  EXPECT_LE(deletion["mean"], deletion["high"]);
  EXPECT_TRUE(population["weights"].empty());
  EXPECT_THAT(population["verdict"][0].get<std::string>(), HasSubstr("Over 2 photos raw"));
}

TEST_F(AttendAudit, KnowsWhereTheObjectIs) {
  const std::string file = masks({golden_photos()[0]});
  const std::vector<std::string> flags{
      golden_photos()[0], "--masks", file,       "--audit-parts", "none",
      "--format",         "json",    "--method", "raw,rollout"};
  const Finished finished = audit(flags);
  ASSERT_EQ(finished.status, 0) << finished.err;
  for (const json& map : json::parse(finished.out)["audit"]["maps"]) {
    // The object is the left half: no map of a real network lies on one side of it alone.
    EXPECT_GT(map["figures"]["energy"], 0.1);
    EXPECT_LT(map["figures"]["energy"], 0.9);
    EXPECT_EQ(map["figures"].size(), 4u) << map;  // pointing, energy, iou, seconds
  }
}

TEST_F(AttendAudit, OtherModelsAreCompared) {
  const auto agreement = [&](const std::string& others) {
    const Finished finished = audit({golden_photos()[0], "--audit-parts", "none", "--method",
                                     "relevance", "--other-models", others, "--format", "json"});
    EXPECT_EQ(finished.status, 0) << finished.err;
    return json::parse(finished.out)["audit"]["maps"][0]["figures"]["checkpoints"].get<double>();
  };
  const std::string same = golden("models/hf-vit"), other = golden("models/hf-dinov2-reg-swiglu");
  EXPECT_NEAR(agreement(same), 1, 1e-9);
  const double theirs = agreement(other);
  EXPECT_LT(theirs, 0.9);
  EXPECT_NEAR(agreement(same + "," + other), (1 + theirs) / 2, 1e-9);
  expect_refusal({"attend", golden_photos()[0], "--audit", "--model", same, "--other-models",
                  golden("models/timm-vit")},
                 "it has no class");
}

TEST_F(AttendAudit, RefusesWhatMakesNoSense) {
  const std::string photo = golden_photos()[0];
  const std::string model = golden("models/hf-vit");
  expect_refusal({"attend", photo, "--model", model, "--masks", "x.json", "--output", at("a.png")},
                 "add --audit");
  expect_refusal({"attend", photo, "--model", model, "--audit", "--mask-category", "cat"},
                 "--masks FILE, which is missing");
  expect_refusal({"attend", photo, "--model", model, "--audit", "--masks", masks({photo}),
                  "--mask-category", "cats"},
                 "did you mean 'cat'?");
  expect_refusal({"attend", photo, "--model", model, "--audit", "--audit-parts", "all"}, "weights");
  expect_refusal({"attend", photo, "--model", model, "--audit", "--masks", at("none.json")},
                 "none.json");
}

TEST_F(AttendAudit, APhotoWithoutAnnotationIsNamed) {
  const Finished finished =
      audit({golden_photos()[1], "--masks", masks({golden_photos()[0]}), "--audit-parts", "none"});
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr(fs::path(golden_photos()[1]).filename().string()));
}

TEST_F(AttendAudit, ThePageHasTheTable) {
  const Finished finished = audit({golden_photos()[0], "--html", at("page.html")});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const std::string page = file_text(at("page.html"));
  EXPECT_THAT(page, HasSubstr("raw: deletion"));
  EXPECT_THAT(page, HasSubstr("For this photo raw"));
}

}  // namespace
}  // namespace vitascope::tests
