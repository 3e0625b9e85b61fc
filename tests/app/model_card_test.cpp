#include "app/model_card.h"

#include <gmock/gmock.h>

#include "tests/cli/run_program.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A card of five photos of two classes, one of which is wrong.
class ModelCardTest : public testing::Test {
 protected:
  ModelCardTest() {
    images_.source = "class folders";
    images_.classes = {"red cat", "a|b <c>"};
    for (int i = 0; i < 9; ++i) {
      images_.samples.push_back(
          {.path = "p" + std::to_string(i),
           .stored = {},
           .labels = {i % 2},
           .split = i < 5 ? datasets::Split::validation : datasets::Split::train});
    }
    answers_.labels = images_.classes;
    answers_.samples = {0, 1, 2, 3, 4};
    answers_.paths = {"p0", "p1", "p2", "p3", "p4"};
    answers_.truth = {{0}, {1}, {0}, {1}, {0}};
    answers_.logits = {2, 0, 0, 2, 2, 0, 0, 2, 0, 1};
    evaluation_ = evaluate(answers_, {});
    facts_.config.classes = 2;
    facts_.fits_timm = true;
    facts_.input = image::Size{224, 224};
    rows_ = {{.epoch = 1, .validation = {{"accuracy", 0.8}}, .best = true},
             {.epoch = 2, .validation = {{"accuracy", 0.6}}}};
    options_ = {{"lr", "0.001"}, {"data", "/home/ann/secret/photos"}, {"seed", "7"}};
  }

  std::string card() const {
    return model_card({.folder = folder_,
                       .base = base_,
                       .method = method_,
                       .facts = facts_,
                       .images = images_,
                       .data = data_,
                       .fingerprint = fingerprint_,
                       .options = options_,
                       .seed = 7,
                       .resamples = 2000,
                       .rows = rows_,
                       .answers = answers_,
                       .evaluation = evaluation_,
                       .confusions = true});
  }

  BaseModel base_{"google/vit-base-patch16-224", true};
  std::string folder_ = "/home/ann/secret/runs/my run", method_ = "full";
  std::string data_ = "/home/ann/secret/photos/", fingerprint_ = "9 photos 1234abcd";
  datasets::LabelledImages images_;
  ModelFacts facts_;
  std::vector<OptionValue> options_;
  std::vector<LogRow> rows_;
  Answers answers_;
  Evaluation evaluation_;
};

TEST_F(ModelCardTest, BeginsWithFrontMatterOfTheHub) {
  EXPECT_EQ(card().substr(0, card().find("\n# ")),
            "---\n"
            "library_name: transformers\n"
            "pipeline_tag: image-classification\n"
            "base_model: \"google/vit-base-patch16-224\"\n"
            "license: other\n"
            "license_name: as-the-base-model\n"
            "tags:\n- image-classification\n- vision-transformer\n- vitascope\n"
            "metrics:\n- accuracy\n"
            "model-index:\n"
            "- name: \"my run\"\n"
            "  results:\n"
            "  - task:\n      type: image-classification\n"
            "    dataset:\n      name: \"photos\"\n      type: imagefolder\n"
            "      split: validation\n"
            "    metrics:\n    - type: accuracy\n      value: 0.8000\n"
            "---\n");
}

TEST_F(ModelCardTest, TellsOfResultsDataAndTraining) {
  const std::string text = card();
  EXPECT_THAT(text, HasSubstr("| top-1 accuracy | 0.8000 |"));
  EXPECT_THAT(text, HasSubstr("- red cat taken for a\\|b \\<c\\>: 1 of 3 photos"));
  EXPECT_THAT(text, HasSubstr("| red cat | 2 | 3 | 0 |"));
  EXPECT_THAT(text, HasSubstr("| **all photos** | 4 | 5 | 0 |"));
  EXPECT_THAT(text, HasSubstr("9 photos 1234abcd"));
  EXPECT_THAT(text, HasSubstr("| lr | 0.001 |"));
  EXPECT_THAT(text, HasSubstr("| seed | 7 |"));
  EXPECT_THAT(text, HasSubstr("| 1 | 0.0000 | 0.000 | accuracy 0.8000 | 0.00e+00 | kept |"));
  EXPECT_THAT(text, HasSubstr("fewer than 30 photos each"));
  EXPECT_THAT(text, HasSubstr("vitascope classify photo.jpg --model 'my run'"));
}

TEST_F(ModelCardTest, SaysNotWhereThingsLay) { EXPECT_THAT(card(), Not(HasSubstr("secret"))); }

TEST_F(ModelCardTest, OfALocalBaseTheHubIsNotTold) {
  base_ = base_model("/home/ann/secret/backbone");
  EXPECT_THAT(card(), Not(HasSubstr("base_model:")));
  EXPECT_THAT(card(), HasSubstr("backbone (a local file or folder)"));
}

TEST_F(ModelCardTest, SeveralLabelsHaveOtherFigures) {
  answers_.sigmoid = answers_.multi_label = true;
  evaluation_ = evaluate(answers_, {});
  EXPECT_THAT(card(), HasSubstr("metrics:\n- f1\n"));
  EXPECT_THAT(card(), HasSubstr("| mean average precision |"));
  EXPECT_THAT(card(), Not(HasSubstr("taken for")));
}

TEST_F(ModelCardTest, PythonsLinesDependOnTheLayout) {
  EXPECT_THAT(card(),
              HasSubstr("transformers.pipeline(\"image-classification\", model=\"my run\")"));
  EXPECT_THAT(card(), HasSubstr("--layout timm"));
  facts_.fits_timm = false;
  EXPECT_THAT(card(), Not(HasSubstr("timm")));
  facts_.layout = weights::Layout::timm;
  EXPECT_THAT(card(), HasSubstr("library_name: timm"));
  EXPECT_THAT(card(), Not(HasSubstr("import transformers")));
}

TEST_F(ModelCardTest, WithoutABaseNothingIsSaidOfOne) {
  base_ = base_model("");
  EXPECT_THAT(card(), HasSubstr("made from random weights"));
  EXPECT_THAT(card(), Not(HasSubstr("base model")));
  EXPECT_THAT(card(), Not(HasSubstr("as-the-base-model")));
}

TEST(BaseModelTest, IsARepositoryOrALastName) {
  EXPECT_TRUE(base_model("google/vit@main").on_hub);
  EXPECT_EQ(base_model("google/vit@main").name, "google/vit");
  EXPECT_EQ(base_model("a/b/c").name, "c");
  EXPECT_FALSE(base_model("a/b/c").on_hub);
  EXPECT_EQ(base_model("models/backbone/").name, "backbone");
  const tests::TemporaryFolder folder;
  EXPECT_FALSE(base_model(folder.path()).on_hub);
}

}  // namespace
}  // namespace vitascope::app
