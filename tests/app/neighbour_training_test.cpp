#include "app/neighbour_training.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "tests/app/coloured_photos.h"
#include "tests/golden.h"
#include "vit/classifier.h"
#include "vit/error.h"
#include "vit/train/nearest_neighbours.h"

namespace vitascope::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::draw;
using tests::kColours;

class NeighbourTrainingTest : public tests::ColouredPhotos {
 protected:
  void SetUp() override {
    tests::ColouredPhotos::SetUp();
    options.features.run = run;
    options.count = 5;
  }

  NeighbourTraining kept(const std::string& name) const {
    const weights::Model plain = weights::open_model(tests::golden("models/" + name));
    return keep_neighbours({plain, plain}, opened(), options);
  }

  NeighbourOptions options;
};

class NeighboursOfModel : public NeighbourTrainingTest,
                          public testing::WithParamInterface<const char*> {};

TEST_P(NeighboursOfModel, FromAFolderOfPhotosToAModelThatKnowsThem) {
  const NeighbourTraining training = kept(GetParam());
  ASSERT_TRUE(training.model);
  EXPECT_THAT(training.model->network.config().neighbours->photos, ElementsAre(6, 6, 6));
  EXPECT_EQ(training.score, 1);
  EXPECT_GE(training.training_score, 16.0 / 18);
  EXPECT_EQ(training.held_out_logits.sizes(), (std::vector<std::int64_t>{6, 3}));

  const std::string folder = out.path() + "/model";
  weights::save_model(*training.model, folder, weights::Layout::vitascope, /*force=*/false);
  const Classifier classifier = Classifier::open(folder);
  EXPECT_THAT(classifier.labels(), ElementsAre("blue things", "green", "red"));
  for (int channel = 0; channel < 3; ++channel) {
    const std::string photo = draw(out.path() + "/new.png", channel, 999);
    EXPECT_EQ(classifier.classify(photo, 1).at(0).label, kColours[channel]);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, NeighboursOfModel,
                         testing::Values("hf-vit", "hf-dinov2", "hf-deit-distilled"));

/// As the same votes are counted beside a linear head.
TEST_F(NeighbourTrainingTest, AnswersWithTheVotesOfTheNearest) {
  options.temperature = 0.5;
  const NeighbourTraining training = kept("hf-vit");
  const auto& [features, targets, weights] = training.samples.training;
  const at::Tensor votes =
      train::neighbour_votes({features, targets}, training.samples.validation.features,
                             std::vector<std::int64_t>{5}, 0.5)[0];
  EXPECT_LE((training.held_out_logits.softmax(1) - votes).abs().max().item<double>(), 1e-6);
}

TEST_F(NeighbourTrainingTest, NoPhotoVotesForItself) {
  options.count = 1;
  const NeighbourTraining before = kept("hf-vit");
  EXPECT_LE(before.training_loss, 1e-3);
  // A photo that is like no other of its class: by itself it would be right.
  draw(data.path() + "/red/0.png", 1, 77);
  draw(data.path() + "/red/1.png", 1, 78);
  draw(data.path() + "/red/2.png", 1, 79);
  draw(data.path() + "/red/3.png", 1, 80);
  const NeighbourTraining after = kept("hf-vit");
  EXPECT_LT(after.training_score, 1);
  EXPECT_GT(after.training_loss, 0.5);
}

TEST_F(NeighbourTrainingTest, WhatCanNotVoteIsRefused) {
  const auto complaint = [&](const std::shared_ptr<const datasets::LabelledImages>& images) {
    try {
      check_neighbours(options, *images);
      return std::string();
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
  };
  options.count = 18;
  EXPECT_EQ(complaint(opened()), "");
  options.count = 19;
  EXPECT_THAT(complaint(opened()), HasSubstr("--neighbours 19: 18 photos are for training"));
  options.count = 18;
  std::filesystem::resize_file(data.path() + "/red/3.png", 20);
  std::filesystem::resize_file(data.path() + "/red/4.png", 20);
  std::filesystem::resize_file(data.path() + "/red/5.png", 20);
  options.on_bad_image = datasets::OnBadImage::skip;
  EXPECT_THROW(kept("hf-vit"), UsageError);
  datasets::LabelledImages several = *opened();
  several.multi_label = true;
  EXPECT_THAT(complaint(std::make_shared<const datasets::LabelledImages>(several)),
              HasSubstr("several labels"));
}

}  // namespace
}  // namespace vitascope::app
