#include "app/caption_audit.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/run_program.h"
#include "tests/input_error.h"
#include "vit/caption/attention_change.h"
#include "vit/caption/decoder_weights.h"

namespace vitascope::app {
namespace {

using vitascope::tests::input_error;
using vitascope::tests::TemporaryFolder;

constexpr int kRows = 3, kColumns = 4, kCell = 20;  // of a photo of 80 x 60 pixels
constexpr std::int64_t kMarked = 5;                 // the cell that attention likes

/// Says the same whatever it sees, and looks at the cell whose annotation is marked: the score of
/// that one is 1.5, of the others -1.5.
caption::Captioner rote_captioner(const std::vector<std::string>& sentence) {
  caption::Captioner captioner{
      .decoder = {},
      .vocabulary = caption::Vocabulary::build({sentence}, {.least_count = 1}, "a rule"),
      .encoder = {}};
  const std::int64_t count = captioner.vocabulary.size();
  RandomNumbers random(1);
  captioner.decoder = caption::initial_decoder({.vocabulary = count,
                                                .width = 2,
                                                .embedding = count,
                                                .alignment = {.annotation_width = 2, .width = 1},
                                                .gate = false,
                                                .output = caption::WordOutput::deep},
                                               random);
  std::map<std::string, at::Tensor> parameters = caption::tensors_of(captioner.decoder);
  for (auto& [name, tensor] : parameters) tensor.zero_();
  parameters["embedding.weight"].copy_(at::eye(count));
  parameters["att.W_f"][0][0].fill_(100);
  parameters["att.v"].fill_(1.5);
  std::int64_t before = caption::kStart;
  for (const std::int64_t token : captioner.vocabulary.encode(sentence)) {
    if (token == caption::kStart) continue;
    parameters["out.L_o"][token][before].fill_(20);
    before = token;
  }
  return captioner;
}

class CaptionAuditTest : public testing::Test {
 protected:
  /// Objects of the photo: their category and [x, y, width, height].
  std::string masks(const std::vector<std::pair<std::string, std::vector<int>>>& objects) const {
    nlohmann::json file{
        {"images", {{{"id", 1}, {"file_name", "photo.png"}, {"width", 80}, {"height", 60}}}},
        {"categories", nlohmann::json::array()},
        {"annotations", nlohmann::json::array()}};
    for (std::size_t i = 0; i < objects.size(); ++i) {
      file["categories"].push_back({{"id", i}, {"name", objects[i].first}});
      file["annotations"].push_back(
          {{"image_id", 1}, {"category_id", i}, {"bbox", objects[i].second}});
    }
    return folder_.write("instances.json", file.dump());
  }

  CaptionAudit audit(const std::string& file, const std::string& path = "photo.png") const {
    const c10::InferenceMode guard;
    caption::BeamOptions search;
    search.beam = 1;  // of its words all but one are equally unlikely, <end> too
    const caption::Caption best =
        caption::captions_of(captioner_.decoder, annotations_, search).front().front();
    image::Specification specification;
    const image::Size size{kColumns * kCell, kRows * kCell};
    specification.size = size;
    const PhotoCaptions photo{
        .path = path,
        .size = size,
        .view = image::View(image::geometry(specification, size), size, size, 1),
        .rows = kRows,
        .columns = kColumns,
        .captions = {caption_text(best, captioner_.vocabulary)}};
    const CaptionAuditor auditor(captioner_, {.audit = true, .masks = file, .permutations = 4},
                                 search, 3);
    return auditor.audit({photo, annotations_, best, 7});
  }

  static caption::Annotations marked() {
    caption::Annotations annotations{at::full({1, kRows * kColumns, 2}, -1.0), kRows, kColumns};
    annotations.values[0][kMarked].fill_(1);
    return annotations;
  }

  const TemporaryFolder folder_;
  const caption::Captioner captioner_ =
      rote_captioner({"a", "red", "circle", "above", "blue", "squares"});
  const caption::Annotations annotations_ = marked();
};

TEST_F(CaptionAuditTest, TheMassOnAnObjectCountsPartsOfCells) {
  // All of the marked cell and half of the one right of it.
  const CaptionAudit found = audit(masks({{"red circle", {20, 20, 30, 20}}}));
  ASSERT_EQ(found.nouns.size(), 1u);
  const AuditedNoun& noun = found.nouns[0];
  EXPECT_EQ(noun.word, "circle");
  EXPECT_EQ(noun.position, 2u);
  EXPECT_EQ(noun.category, "red circle");
  const double other = std::exp(-1.5) / (std::exp(1.5) + 11 * std::exp(-1.5));
  const double marked = 1 - 11 * other;
  EXPECT_NEAR(noun.own, marked + other / 2, 1e-6);
  EXPECT_NEAR(noun.uniform, 1.5 / 12, 1e-9);
  RandomNumbers random(combined_seed({3, 7}));
  double permuted = 0;
  for (int i = 0; i < 4; ++i) {
    const auto place =
        caption::shuffled_places(12, {}, random)[kMarked].item<std::int64_t>();  // of the mark
    const double inside = place == kMarked ? 1 : place == kMarked + 1 ? 0.5 : 0;
    permuted += (marked * inside + other * (1.5 - inside)) / 4;
  }
  EXPECT_NEAR(noun.permuted, permuted, 1e-6);
  EXPECT_NEAR(found.figures.own.at("inside").value, noun.own, 1e-12);
  EXPECT_NEAR(found.figures.permuted.at("inside").value, noun.permuted, 1e-12);
  EXPECT_NEAR(found.figures.uniform.at("inside").value, noun.uniform, 1e-12);
  double entropy = -marked * std::log(marked) - 11 * other * std::log(other);
  EXPECT_NEAR(found.figures.own.at("entropy").value, entropy / std::log(12), 1e-6);
  // It says what it learned by heart.
  EXPECT_EQ(found.uniform_sentence, "a red circle above blue squares");
  EXPECT_THAT(found.permuted_sentences, testing::Each(found.uniform_sentence));
  EXPECT_NEAR(found.figures.permuted.at("cost").value, 0, 1e-6);
  EXPECT_EQ(found.figures.permuted.at("words_differ").value, 0);
}

TEST_F(CaptionAuditTest, ObjectsNarrowerThanACellAreLeftOut) {
  const std::vector<int> narrow{20, 20, 19, 40}, low{20, 20, 40, 19}, enough{60, 40, 20, 20};
  for (const std::vector<int>& box : {narrow, low}) {
    const CaptionAudit found = audit(masks({{"red circle", box}, {"blue square", enough}}));
    ASSERT_EQ(found.nouns.size(), 1u);
    EXPECT_EQ(found.nouns[0].word, "squares");
    EXPECT_EQ(found.figures.nouns, 1);
    EXPECT_EQ(found.figures.narrow, 1);
  }
  const CaptionAudit none = audit(masks({{"red circle", narrow}, {"dog", enough}}));
  EXPECT_TRUE(none.figures.masks);
  EXPECT_EQ(none.figures.nouns, 0);
  EXPECT_FALSE(none.figures.own.contains("inside"));
}

TEST_F(CaptionAuditTest, OfSeveralObjectsOneIsLargeEnoughAndAllCount) {
  nlohmann::json file = nlohmann::json::parse(vitascope::tests::file_text(
      masks({{"red circle", {20, 20, 20, 20}}, {"blue square", {0, 0, 5, 5}}})));
  file["annotations"].push_back({{"image_id", 1}, {"category_id", 0}, {"bbox", {60, 0, 10, 20}}});
  const CaptionAudit found = audit(folder_.write("two.json", file.dump()));
  ASSERT_EQ(found.nouns.size(), 1u);
  EXPECT_NEAR(found.nouns[0].uniform, 1.5 / 12, 1e-9);
}

TEST_F(CaptionAuditTest, APhotoThatTheMasksLackIsNamed) {
  const std::string file = masks({{"red circle", {20, 20, 20, 20}}});
  EXPECT_EQ(input_error([&] { audit(file, "other.png"); }),
            "other.png: is none of the images of " + file);
  EXPECT_FALSE(audit("").figures.masks);
}

TEST(MeanCaptionAudit, IsTakenOverPhotosThatHaveTheNumber) {
  CaptionAuditFigures one, two;
  one.own = {{"log_prob", {-1}}, {"inside", {.5}}};
  one.permuted = {{"cost", {2}}};
  one.nouns = 2;
  one.masks = true;
  two.own = {{"log_prob", {-3}}};
  two.permuted = {{"cost", {4}}};
  two.narrow = 1;
  two.masks = true;
  const CaptionAuditFigures all = mean_caption_audit({one, two});
  EXPECT_EQ(all.photos, 2);
  EXPECT_EQ(all.nouns, 2);
  EXPECT_EQ(all.narrow, 1);
  EXPECT_TRUE(all.masks);
  EXPECT_EQ(all.own.at("log_prob").value, -2);
  ASSERT_TRUE(all.own.at("log_prob").interval);
  EXPECT_EQ(all.own.at("log_prob").interval->low, -3);
  EXPECT_EQ(all.own.at("log_prob").interval->high, -1);
  EXPECT_EQ(all.own.at("inside").photos, 1);
  EXPECT_EQ(all.permuted.at("cost").value, 3);
}

}  // namespace
}  // namespace vitascope::app
