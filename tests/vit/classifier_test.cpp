#include "vit/classifier.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/golden.h"
#include "vit/error.h"
#include "vit/file.h"
#include "vit/weights/safetensors.h"

namespace vitascope {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Python's logits of rgb_plain.jpg, the first picture of the golden batch.
std::vector<double> golden_logits(const std::string& model) {
  const auto stored =
      weights::read_safetensors(tests::golden("models/" + model + "/expected.safetensors"));
  const weights::StoredTensor& logits = stored.tensors.at("logits");
  const auto* values = reinterpret_cast<const float*>(logits.bytes.data());
  return {values, values + logits.shape[1]};
}

std::vector<double> softmax(std::vector<double> logits) {
  double sum = 0;
  for (double& value : logits) sum += value = std::exp(value);
  for (double& value : logits) value /= sum;
  return logits;
}

TEST(Classifier, GivesThePredictionsOfPythonForAPhoto) {
  const Classifier classifier = Classifier::open(tests::golden("models/hf-vit"));
  const auto expected = softmax(golden_logits("hf-vit"));
  const auto predictions = classifier.classify(tests::golden("images/rgb_plain.jpg"), 5);
  ASSERT_EQ(predictions.size(), 5u);
  for (const Prediction& prediction : predictions) {
    EXPECT_NEAR(prediction.probability, expected.at(std::size_t(prediction.index)), 1e-5);
    EXPECT_EQ(prediction.label, classifier.labels().at(std::size_t(prediction.index)));
  }
  for (std::size_t i = 1; i < predictions.size(); ++i) {
    EXPECT_LE(predictions[i].probability, predictions[i - 1].probability);
  }
}

TEST(Classifier, GivesAsManyAsAskedAndNoMoreThanThereAre) {
  const Classifier classifier = Classifier::open(tests::golden("models/hf-vit"));
  const std::string photo = tests::golden("images/rgb.png");
  EXPECT_EQ(classifier.classify(photo, 2).size(), 2u);
  EXPECT_EQ(classifier.classify(photo, 100).size(), 5u);
  EXPECT_EQ(classifier.classify(photo, 0).size(), 0u);
}

TEST(Classifier, HasTheLabelsOfTheModel) {
  const Classifier classifier = Classifier::open(tests::golden("models/hf-vit"));
  EXPECT_THAT(classifier.labels(),
              testing::ElementsAre("tabby cat", "golden retriever", "fire truck", "acoustic guitar",
                                   "school bus"));
}

TEST(Classifier, SaysWhatIsWrong) {
  EXPECT_THAT([] { Classifier::open(tests::golden("models/no-such-model")); },
              ThrowsMessage<InputError>(HasSubstr("no such file or folder")));
  const Classifier classifier = Classifier::open(tests::golden("models/hf-vit"));
  EXPECT_THAT([&] { classifier.classify(tests::golden("images/bad/text.jpg")); },
              ThrowsMessage<InputError>(HasSubstr("text.jpg")));
}

}  // namespace
}  // namespace vitascope
