#include "app/head_training.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <opencv2/imgcodecs.hpp>

#include "datasets/open_labelled.h"
#include "datasets/split.h"
#include "tests/cli/run_program.h"
#include "tests/golden.h"
#include "vit/classifier.h"
#include "vit/error.h"
#include "vit/random_numbers.h"

namespace vitascope::app {
namespace {

using testing::ElementsAre;
using tests::TemporaryFolder;

constexpr const char* kColours[] = {"blue things", "green", "red"};

/// A noisy picture in which one of OpenCV's channels, blue, green and red, is bright.
std::string draw(const std::string& path, int channel, std::uint64_t seed) {
  RandomNumbers random(seed);
  cv::Mat picture(40, 48, CV_8UC3);
  for (int y = 0; y < picture.rows; ++y) {
    for (int x = 0; x < picture.cols; ++x) {
      for (int c = 0; c < 3; ++c) {
        picture.at<cv::Vec3b>(y, x)[c] =
            static_cast<uchar>(random.below(90) + (c == channel ? 150 : 20));
      }
    }
  }
  EXPECT_TRUE(cv::imwrite(path, picture));
  return path;
}

/// Eight photos of each colour, a quarter of them for validation.
class HeadTrainingTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int channel = 0; channel < 3; ++channel) {
      const std::string of_class = data.path() + "/" + kColours[channel];
      std::filesystem::create_directory(of_class);
      for (int i = 0; i < 8; ++i) {
        draw(fmt::format("{}/{}.png", of_class, i), channel,
             static_cast<std::uint64_t>(channel * 100 + i));
      }
    }
    options.features.run.quiet = true;
    options.features.run.threads = 1;
  }

  std::shared_ptr<const datasets::LabelledImages> opened(double fraction = 0.25) const {
    datasets::LabelledImages images = datasets::open_labelled(data.path());
    if (fraction > 0) datasets::split_validation(images, fraction, 0);
    return std::make_shared<const datasets::LabelledImages>(std::move(images));
  }

  HeadTraining trained(const std::string& name) const {
    const std::string path = vitascope::tests::golden("models/" + name);
    const weights::Model plain = weights::open_model(path);
    weights::OpenOptions pack;
    pack.pack = true;
    const weights::Model packed = weights::open_model(path, pack);
    return train_head({plain, packed}, opened(), options);
  }

  const TemporaryFolder data, out;
  HeadTrainingOptions options;
};

class HeadOfModel : public HeadTrainingTest, public testing::WithParamInterface<const char*> {};

TEST_P(HeadOfModel, FromAFolderOfPhotosToAModelThatKnowsThem) {
  const HeadTraining training = trained(GetParam());
  EXPECT_EQ(training.training, 18u);
  EXPECT_EQ(training.validation, 6u);
  EXPECT_EQ(training.failed, 0);
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

  const std::string path = vitascope::tests::golden(std::string("models/") + GetParam());
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
  EXPECT_EQ(first.computed, 24u);
  const HeadTraining second = trained("hf-vit");
  EXPECT_EQ(second.computed, 0u);
  EXPECT_TRUE(at::equal(second.trained.head.weight, first.trained.head.weight));
  draw(data.path() + "/red/8.png", 2, 5);
  EXPECT_EQ(trained("hf-vit").computed, 1u);
}

TEST_F(HeadTrainingTest, PhotosThatCannotBeDecoded) {
  std::filesystem::resize_file(data.path() + "/red/3.png", 20);
  EXPECT_THROW(trained("hf-vit"), FailureError);
  options.on_bad_image = datasets::OnBadImage::skip;
  const HeadTraining training = trained("hf-vit");
  EXPECT_EQ(training.failed, 1);
  EXPECT_EQ(training.training + training.validation, 23u);
}

TEST_F(HeadTrainingTest, NearestNeighboursAreToldBeside) {
  options.neighbours = {1, 3};
  const HeadTraining training = trained("hf-vit");
  ASSERT_EQ(training.neighbours.size(), 2u);
  EXPECT_EQ(training.neighbours[1].k, 3);
  EXPECT_GE(training.neighbours[1].score, 5.0 / 6);
}

TEST_F(HeadTrainingTest, DataThatTeachesNothing) {
  const weights::Model model = weights::open_model(vitascope::tests::golden("models/hf-vit"));
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
  const weights::Model model = weights::open_model(vitascope::tests::golden("models/hf-vit"));
  const HeadTraining training =
      train_head({model, model}, std::make_shared<const datasets::LabelledImages>(images), options);
  EXPECT_EQ(training.training, 10u);
  EXPECT_EQ(training.figures().score, 1);
}

}  // namespace
}  // namespace vitascope::app
