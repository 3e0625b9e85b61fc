#include "app/head_training.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "tests/app/coloured_photos.h"
#include "tests/golden.h"
#include "vit/classifier.h"
#include "vit/error.h"

namespace vitascope::app {
namespace {

using testing::ElementsAre;
using tests::draw;
using tests::kColours;

class HeadTrainingTest : public tests::ColouredPhotos {
 protected:
  void SetUp() override {
    tests::ColouredPhotos::SetUp();
    options.features.run = run;
  }

  HeadTraining trained(const std::string& name) const {
    const std::string path = tests::golden("models/" + name);
    const weights::Model plain = weights::open_model(path);
    weights::OpenOptions pack;
    pack.pack = true;
    const weights::Model packed = weights::open_model(path, pack);
    return train_head({plain, packed}, opened(), options);
  }

  HeadTrainingOptions options;
};

class HeadOfModel : public HeadTrainingTest, public testing::WithParamInterface<const char*> {};

TEST_P(HeadOfModel, FromAFolderOfPhotosToAModelThatKnowsThem) {
  const HeadTraining training = trained(GetParam());
  EXPECT_EQ(training.samples.training.features.size(0), 18);
  EXPECT_EQ(training.samples.held_out.size(), 6u);
  EXPECT_EQ(training.samples.failed, 0);
  EXPECT_EQ(training.figures().score, 1);
  ASSERT_TRUE(training.model);
  EXPECT_THAT(training.model->labels, ElementsAre("blue things", "green", "red"));

  const std::string folder = out.path() + "/model";
  weights::save_model(*training.model, folder, weights::Layout::transformers, /*force=*/false);
  const Classifier classifier = Classifier::open(folder);
  EXPECT_EQ(classifier.labels(), training.model->labels);
  for (int channel = 0; channel < 3; ++channel) {
    const std::string photo = draw(out.path() + "/new.png", channel, 999);
    EXPECT_EQ(classifier.classify(photo, 1).at(0).label, kColours[channel]);
  }
}

TEST_P(HeadOfModel, SavedModelAnswersAsTheHeadDoes) {
  const HeadTraining training = trained(GetParam());
  const std::string folder = out.path() + "/model";
  weights::save_model(*training.model, folder, weights::Layout::transformers, /*force=*/false);
  const std::string photo = draw(out.path() + "/new.png", 1, 7);

  const std::string path = tests::golden(std::string("models/") + GetParam());
  const weights::Model plain = weights::open_model(path);
  const auto images = std::make_shared<datasets::LabelledImages>();
  images->samples.push_back({photo, {}, {}});
  const Features features = features_of({plain, plain}, images, {0}, options.features);
  const at::Tensor expected =
      training.trained.head.logits(features.values).softmax(1)[0].to(at::kDouble);
  for (const Prediction& prediction : Classifier::open(folder).classify(photo, 3)) {
    EXPECT_NEAR(prediction.probability, expected[prediction.index].item<double>(), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, HeadOfModel,
                         testing::Values("hf-vit", "hf-dinov2", "hf-deit-distilled"));

TEST_F(HeadTrainingTest, FeaturesAreComputedOnce) {
  options.features.cache = out.path() + "/features.safetensors";
  const HeadTraining first = trained("hf-vit");
  EXPECT_EQ(first.samples.computed, 24u);
  const HeadTraining second = trained("hf-vit");
  EXPECT_EQ(second.samples.computed, 0u);
  EXPECT_TRUE(at::equal(second.trained.head.weight, first.trained.head.weight));
  draw(data.path() + "/red/8.png", 2, 5);
  EXPECT_EQ(trained("hf-vit").samples.computed, 1u);
}

TEST_F(HeadTrainingTest, PhotosThatCannotBeDecoded) {
  std::filesystem::resize_file(data.path() + "/red/3.png", 20);
  EXPECT_THROW(trained("hf-vit"), FailureError);
  options.on_bad_image = datasets::OnBadImage::skip;
  const HeadTraining training = trained("hf-vit");
  EXPECT_EQ(training.samples.failed, 1);
  EXPECT_EQ(training.samples.photos(), 23u);
}

TEST_F(HeadTrainingTest, NearestNeighboursAreToldBeside) {
  options.neighbours = {1, 3};
  const HeadTraining training = trained("hf-vit");
  ASSERT_EQ(training.neighbours.size(), 2u);
  EXPECT_EQ(training.neighbours[1].k, 3);
  EXPECT_GE(training.neighbours[1].score, 5.0 / 6);
}

TEST_F(HeadTrainingTest, DataThatTeachesNothing) {
  const weights::Model model = weights::open_model(tests::golden("models/hf-vit"));
  EXPECT_THROW(train_head({model, model}, opened(0), options), UsageError) << "no validation";
  std::filesystem::remove_all(data.path() + "/red");
  std::filesystem::remove_all(data.path() + "/green");
  EXPECT_THROW(train_head({model, model}, opened(), options), UsageError) << "one class";
}

TEST_F(HeadTrainingTest, PicturesInMemory) {
  datasets::LabelledImages images;
  images.classes = {"dark", "bright"};
  auto stored = std::make_shared<datasets::StoredPictures>();
  stored->size = {8, 8};
  for (int i = 0; i < 16; ++i) {
    stored->bytes.insert(stored->bytes.end(), 64, static_cast<std::uint8_t>(i % 2 * 200 + i));
    images.samples.push_back({fmt::format("file#{}", i),
                              static_cast<std::size_t>(i),
                              {i % 2},
                              1,
                              i < 10 ? datasets::Split::train : datasets::Split::validation});
  }
  images.stored = stored;
  const weights::Model model = weights::open_model(tests::golden("models/hf-vit"));
  const HeadTraining training =
      train_head({model, model}, std::make_shared<const datasets::LabelledImages>(images), options);
  EXPECT_EQ(training.samples.training.features.size(0), 10);
  EXPECT_EQ(training.figures().score, 1);
}

}  // namespace
}  // namespace vitascope::app
