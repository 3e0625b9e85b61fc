#include "datasets/training_loader.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <chrono>
#include <numeric>
#include <set>
#include <thread>

#include "tests/golden.h"
#include "vit/error.h"

namespace vitascope::datasets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::golden;

/// `count` pictures in memory; picture i has level i and label i % 3.
std::shared_ptr<LabelledImages> numbered(std::size_t count) {
  auto images = std::make_shared<LabelledImages>();
  images->classes = {"a", "b", "c"};
  auto stored = std::make_shared<StoredPictures>();
  stored->size = {2, 2};
  for (std::size_t i = 0; i < count; ++i) {
    stored->bytes.insert(stored->bytes.end(), 4, static_cast<std::uint8_t>(i));
    Sample sample;
    sample.path = "x#" + std::to_string(i);
    sample.stored = i;
    sample.labels = {static_cast<int>(i % 3)};
    sample.weight = static_cast<double>(i);
    images->samples.push_back(sample);
  }
  images->stored = stored;
  return images;
}

PhotoRecipe plain(std::uint64_t seed = 1) {
  PhotoRecipe recipe;
  recipe.specification.size = {4, 4};
  recipe.specification.normalise = false;
  recipe.seed = seed;
  return recipe;
}

std::vector<std::size_t> all_of(const LabelledImages& images) {
  std::vector<std::size_t> samples(images.samples.size());
  std::iota(samples.begin(), samples.end(), std::size_t{0});
  return samples;
}

TrainingLoaderOptions batches_of(std::size_t size, int threads = 2) {
  TrainingLoaderOptions options;
  options.batch_size = size;
  options.threads = threads;
  return options;
}

/// The samples of every batch of an epoch.
std::vector<std::vector<std::size_t>> epoch_of(TrainingLoader& loader) {
  std::vector<std::vector<std::size_t>> result;
  while (const auto batch = loader.next()) result.push_back(batch->samples);
  return result;
}

TEST(TrainingLoader, EveryPictureOnceWithItsLabelAndWeight) {
  const auto images = numbered(10);
  TrainingLoader loader(images, all_of(*images), plain(), batches_of(4));
  EXPECT_EQ(loader.batches(), 3u);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    EXPECT_EQ(loader.epoch(), epoch);
    std::set<std::size_t> seen;
    while (const auto batch = loader.next()) {
      EXPECT_LE(batch->samples.size(), 4u);
      for (std::size_t i = 0; i < batch->samples.size(); ++i) {
        const std::size_t sample = batch->samples[i];
        const auto row = static_cast<std::int64_t>(i);
        EXPECT_TRUE(seen.insert(sample).second);
        EXPECT_NEAR(batch->pixels[row].max().item<double>() * 255, double(sample), 1e-4);
        EXPECT_EQ(batch->targets[row].item<std::int64_t>(), std::int64_t(sample % 3));
        EXPECT_EQ(batch->weights[row].item<float>(), float(sample));
      }
    }
    EXPECT_EQ(seen.size(), 10u);
  }
}

TEST(TrainingLoader, OnlyTheSamplesThatWereGiven) {
  const auto images = numbered(10);
  TrainingLoader loader(images, {2, 5}, plain(), batches_of(4));
  const auto epoch = epoch_of(loader);
  ASSERT_EQ(epoch.size(), 1u);
  EXPECT_THAT(epoch[0], testing::UnorderedElementsAre(2, 5));
}

TEST(TrainingLoader, ThreadsChangeNothing) {
  const auto images = numbered(50);
  PhotoRecipe recipe = plain();
  recipe.augmentation.brightness = 0.5;
  TrainingLoader one(images, all_of(*images), recipe, batches_of(8, 1));
  TrainingLoader many(images, all_of(*images), recipe, batches_of(8, 7));
  for (int i = 0; i < 14; ++i) {
    const auto a = one.next();
    const auto b = many.next();
    ASSERT_EQ(a.has_value(), b.has_value());
    if (!a) continue;
    EXPECT_EQ(a->samples, b->samples);
    EXPECT_TRUE(at::equal(a->pixels, b->pixels));
  }
}

TEST(TrainingLoader, SeveralLabelsAreRowsOfZerosAndOnes) {
  const auto images = numbered(2);
  images->multi_label = true;
  images->samples[0].labels = {0, 2};
  images->samples[1].labels = {};
  TrainingLoader loader(images, {0}, plain(), batches_of(1));
  EXPECT_TRUE(at::equal(loader.next()->targets, at::tensor({1.0f, 0.0f, 1.0f}).unsqueeze(0)));
  TrainingLoader none(images, {1}, plain(), batches_of(1));
  EXPECT_TRUE(at::equal(none.next()->targets, at::zeros({1, 3})));
}

TEST(TrainingLoader, ProcessesShareEveryStep) {
  const auto images = numbered(11);
  TrainingLoader whole(images, all_of(*images), plain(), batches_of(4));
  TrainingLoaderOptions half = batches_of(4);
  half.shard = {0, 2};
  TrainingLoader first(images, all_of(*images), plain(), half);
  half.shard = {1, 2};
  TrainingLoader second(images, all_of(*images), plain(), half);
  while (const auto batch = whole.next()) {
    const auto a = first.next();
    const auto b = second.next();
    EXPECT_TRUE(at::equal(at::cat({a->pixels, b->pixels}), batch->pixels));
  }
  EXPECT_FALSE(first.next());
  EXPECT_FALSE(second.next());
}

TEST(TrainingLoader, AnEmptyShareIsAnEmptyBatch) {
  const auto images = numbered(1);
  TrainingLoaderOptions options = batches_of(2);
  options.shard = {0, 2};
  TrainingLoader loader(images, {0}, plain(), options);
  const auto batch = loader.next();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->pixels.sizes(), (at::IntArrayRef{0, 3, 4, 4}));
  EXPECT_EQ(batch->targets.numel(), 0);
}

TEST(TrainingLoader, GoesOnFromASavedState) {
  const auto images = numbered(23);
  for (const int done : {0, 1, 3, 5, 6, 7, 9}) {
    TrainingLoader straight(images, all_of(*images), plain(), batches_of(5));
    for (int i = 0; i < done; ++i) straight.next();
    TrainingLoader resumed(images, all_of(*images), plain(), batches_of(5));
    resumed.next();
    resumed.restore(straight.state());
    EXPECT_EQ(resumed.epoch(), straight.epoch());
    for (int i = 0; i < 8; ++i) {
      const auto a = straight.next();
      const auto b = resumed.next();
      ASSERT_EQ(a.has_value(), b.has_value()) << done << " " << i;
      if (!a) continue;
      EXPECT_EQ(a->samples, b->samples);
    }
  }
}

/// Workers are in the middle of photos of the first epoch when the position changes.
TEST(TrainingLoader, WhatWasBegunBeforeIsThrownAway) {
  auto images = std::make_shared<LabelledImages>();
  images->classes = {"a"};
  for (int i = 0; i < 8; ++i) {
    Sample sample;
    sample.path = golden("images/rgb.png");
    sample.labels = {0};
    images->samples.push_back(sample);
  }
  for (std::uint64_t epoch = 1; epoch < 200; ++epoch) {
    TrainingLoader loader(images, all_of(*images), plain(7), batches_of(8, 4));
    std::this_thread::sleep_for(std::chrono::microseconds(20 * (epoch % 20)));
    loader.restore({loader.state().name, "1 7 8 " + std::to_string(epoch) + " 0"});
    EXPECT_EQ(loader.next()->samples, epoch_order(8, 7, epoch));
  }
}

TEST(TrainingLoader, ForeignAndDamagedStatesAreRefused) {
  const auto images = numbered(5);
  TrainingLoader loader(images, all_of(*images), plain(1), batches_of(2));
  TrainingLoader other(images, all_of(*images), plain(2), batches_of(2));
  EXPECT_THAT(
      [&] { loader.restore(other.state()); },
      testing::ThrowsMessage<UsageError>(HasSubstr("with seed 2, this one has 5 with seed 1")));
  for (const char* bytes : {"", "1 1 5 0", "1 1 5 0 6", "1 1 5 0 2 x", "2 1 5 0 2", "nonsense"})
    EXPECT_THROW(loader.restore({loader.state().name, bytes}), UsageError) << bytes;
  EXPECT_THROW(loader.restore({"other", loader.state().bytes}), UsageError);
}

std::shared_ptr<LabelledImages> with_bad_photo() {
  auto images = std::make_shared<LabelledImages>();
  images->classes = {"a"};
  for (const char* name : {"rgb.png", "bad/truncated.jpg", "rgb_plain.jpg", "none.jpg"}) {
    Sample sample;
    sample.path = golden(std::string("images/") + name);
    sample.labels = {0};
    images->samples.push_back(sample);
  }
  return images;
}

TEST(TrainingLoader, ABadPhotoIsNamedAndNeverReplaced) {
  const auto images = with_bad_photo();
  TrainingLoaderOptions options = batches_of(4);
  TrainingLoader strict(images, all_of(*images), plain(), options);
  try {
    strict.next();
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("truncated.jpg"), HasSubstr("none.jpg"),
                                             HasSubstr("--on-bad-image skip")));
  }
  options.on_bad_image = OnBadImage::skip;
  TrainingLoader lenient(images, all_of(*images), plain(), options);
  const auto batch = lenient.next();
  EXPECT_THAT(batch->samples, testing::UnorderedElementsAre(0, 2));
  EXPECT_EQ(batch->pixels.size(0), 2);
  EXPECT_EQ(batch->targets.size(0), 2);
  ASSERT_EQ(batch->skipped.size(), 2u);
  std::set<std::string> paths{batch->skipped[0].path, batch->skipped[1].path};
  EXPECT_EQ(paths, (std::set<std::string>{images->samples[1].path, images->samples[3].path}));
  EXPECT_NE(batch->skipped[0].message, "");
}

TEST(TrainingLoader, WaitingIsMeasured) {
  const auto images = numbered(64);
  TrainingLoaderOptions options = batches_of(8);
  TrainingLoader loader(images, all_of(*images), plain(), options);
  EXPECT_EQ(loader.waiting_share(), 0);
  for (int i = 0; i < 8; ++i) {
    loader.next();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the model, far slower than these
  }
  EXPECT_GT(loader.waiting_share(), 0);
  EXPECT_LT(loader.waiting_share(), 0.5);
}

TEST(TrainingLoader, WhatCannotWorkIsRefused) {
  const auto images = numbered(3);
  EXPECT_THROW(TrainingLoader(images, {}, plain(), {}), UsageError);
  PhotoRecipe no_size = plain();
  no_size.specification.resize = image::ResizeMode::none;
  EXPECT_THROW(TrainingLoader(images, {0}, no_size, {}), UsageError);
}

TEST(TrainingLoader, EndsInTheMiddleOfAnEpoch) {
  const auto images = with_bad_photo();
  TrainingLoaderOptions options = batches_of(1, 4);
  options.ahead = 2;
  for (int i = 0; i < 20; ++i) TrainingLoader loader(images, {0, 2}, plain(), options);
}

TEST(TrainingLoader, BalancedClassesComeEquallyOften) {
  const auto images = numbered(12);
  std::vector<std::size_t> samples{0, 3, 6, 1, 4, 2};  // three of a, two of b, one of c
  TrainingLoaderOptions options = batches_of(4);
  options.balanced = true;
  TrainingLoader loader(images, samples, plain(), options);
  std::vector<int> counts(3);
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (const auto& batch : epoch_of(loader)) {
      for (const std::size_t sample : batch) ++counts[sample % 3];
    }
  }
  EXPECT_THAT(counts, testing::Each(6));
}

}  // namespace
}  // namespace vitascope::datasets
