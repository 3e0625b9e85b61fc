#include "vit/train/trainer.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "tests/vit/model/tiny_model.h"
#include "vit/error.h"
#include "vit/train/allocation_peak.h"
#include "vit/train/classifier_learner.h"

namespace vitascope::train {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kBatches = 3;

/// Three batches an epoch that depend on epoch and place alone.
struct TinyData {
  std::int64_t epoch = 0, place = 0;
  std::int64_t poisoned = -1;  ///< place of a batch that holds a NaN

  std::optional<Batch> next() {
    if (place == kBatches) {
      ++epoch;
      place = 0;
      return std::nullopt;
    }
    at::manual_seed(static_cast<std::uint64_t>(1000 + 10 * epoch + place));
    Batch batch{.inputs = at::randn({4, 3, 8, 12}), .weights = at::ones({4})};
    batch.targets = at::zeros({4, 5}).scatter_(1, at::randint(5, {4, 1}, at::kLong), 1);
    batch.names = {"a.jpg", "b.jpg", "c.jpg", "d.jpg"};
    if (place == poisoned) batch.inputs[0][0][0][0] = std::numeric_limits<float>::quiet_NaN();
    ++place;
    return batch;
  }
};

TrainerOptions everything() {
  TrainerOptions options;
  options.epochs = 4;
  options.accumulation = 2;
  options.clip_norm = 1;
  options.schedule = {.steps = 8, .warmup = 2, .rate = 1e-2};
  options.ema = EmaOptions{.decay = 0.9};
  options.seed = 5;
  return options;
}

ClassifierLearning every_way(at::ScalarType precision) {
  ClassifierLearning learning;
  learning.rules = {.weight_decay = 0.05, .layer_decay = 0.8, .head_scale = 3};
  learning.loss.smoothing = 0.1;
  learning.mix = {.mixup_alpha = 0.4, .cutmix_alpha = 1};
  learning.drop_path = 0.3;
  learning.precision = precision;
  return learning;
}

/// Everything of a run that a test looks at; built anew it is as a fresh process is.
struct TinyRun {
  TinyData data;
  std::vector<double> losses;
  std::vector<bool> best;
  std::vector<double> figures{};  ///< of validation, by epoch; empty: always rising
  Request request = Request::none;
  std::optional<std::int64_t> stop_after;
  std::optional<Checkpoint> saved;
  TinyData saved_data;
  ClassifierLearner learner;
  Trainer trainer;

  explicit TinyRun(const TrainerOptions& options, const ClassifierLearning& learning = {})
      : learner(model::tests::random_weights(model::tests::tiny_config()), learning),
        trainer(learner, options, hooks()) {}

  TrainerHooks hooks() {
    TrainerHooks hooks;
    hooks.next = [this] { return data.next(); };
    hooks.validate = [this](const NamedTensors&) {
      const auto epoch = static_cast<std::size_t>(trainer.epoch());
      return Metrics{{"accuracy", figures.empty() ? double(epoch) : figures.at(epoch)}};
    };
    hooks.request = [this] {
      return stop_after && trainer.step() >= *stop_after ? Request::stop : Request::none;
    };
    hooks.on_step = [this](const StepReport& report) { losses.push_back(report.loss); };
    hooks.on_epoch = [this](const EpochReport& report) { best.push_back(report.best); };
    hooks.save = [this](Checkpoint checkpoint, std::int64_t) {
      saved = std::move(checkpoint);
      saved_data = data;
    };
    return hooks;
  }
};

/// The state as the bytes of its file.
std::string file_of(const Checkpoint& checkpoint, const std::string& name) {
  const std::string folder = std::filesystem::temp_directory_path() /
                             ("vitascope-trainer-" + std::to_string(::getpid()) + name);
  std::filesystem::create_directories(folder);
  std::ifstream file(write_checkpoint(folder, checkpoint, 1), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove_all(folder);
  return bytes;
}

class Resumed : public testing::TestWithParam<std::tuple<at::ScalarType, std::int64_t>> {};

TEST_P(Resumed, GoesOnBitByBit) {
  const auto& [precision, stop] = GetParam();
  TinyRun straight(everything(), every_way(precision));
  EXPECT_EQ(straight.trainer.run(), Ending::finished);
  EXPECT_EQ(straight.trainer.step(), 8);

  TinyRun first(everything(), every_way(precision));
  first.stop_after = stop;
  EXPECT_EQ(first.trainer.run(), Ending::interrupted);
  EXPECT_EQ(first.trainer.step(), stop);
  ASSERT_TRUE(first.saved);
  const std::string folder =
      std::filesystem::temp_directory_path() / ("vitascope-resumed-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  write_checkpoint(folder, *first.saved, stop);
  TinyRun second(everything(), every_way(precision));
  second.trainer.restore(*read_newest_checkpoint(folder));
  second.data = first.saved_data;
  EXPECT_EQ(second.trainer.run(), Ending::finished);
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(file_of(straight.trainer.state(), "a") == file_of(second.trainer.state(), "b"));
}

INSTANTIATE_TEST_SUITE_P(Runs, Resumed,
                         testing::Combine(testing::Values(at::kFloat, at::kBFloat16),
                                          testing::Values(1, 4, 5)));

TEST(Trainer, LearnsABatchByHeart) {
  TrainerOptions options;
  options.epochs = 40;
  options.schedule = {.steps = 120, .rate = 1e-2, .decay = Decay::constant};
  TinyRun run(options);
  TrainerHooks hooks = run.hooks();
  hooks.next = [&run] {
    run.data.epoch = 0;  // the same three batches for ever
    return run.data.next();
  };
  run.trainer = Trainer(run.learner, options, hooks);
  run.trainer.run();
  EXPECT_LT(run.losses.back(), 0.2 * run.losses.front());
}

TEST(Trainer, AccumulatedBatchesAreOneLargeOne) {
  TrainerOptions options;
  options.epochs = 1;
  options.method = Sgd{.momentum = 0};
  options.schedule = {.steps = 1, .rate = 0.1, .decay = Decay::constant};
  ClassifierLearning learning;
  learning.loss.class_weights = at::tensor({1.0, 2.0, 3.0, 4.0, 5.0}).to(at::kFloat);
  options.accumulation = kBatches;
  TinyRun parts(options, learning);
  parts.trainer.run();

  options.accumulation = 1;
  TinyRun whole(options, learning);
  TrainerHooks hooks = whole.hooks();
  hooks.next = [&whole]() -> std::optional<Batch> {
    if (whole.data.place == kBatches) return whole.data.next();
    std::vector<at::Tensor> pixels, targets;
    while (whole.data.place < kBatches) {
      const Batch batch = *whole.data.next();
      pixels.push_back(batch.inputs);
      targets.push_back(batch.targets);
    }
    return Batch{.inputs = at::cat(pixels), .targets = at::cat(targets)};
  };
  whole.trainer = Trainer(whole.learner, options, hooks);
  whole.trainer.run();
  EXPECT_NEAR(parts.losses.at(0), whole.losses.at(0), 1e-6);
  const Checkpoint a = parts.trainer.state(), b = whole.trainer.state();
  for (const auto& [name, weights] : a.tensors.at("weights")) {
    EXPECT_TRUE(at::allclose(weights, b.tensors.at("weights").at(name), 1e-5, 1e-6)) << name;
  }
}

TEST(Trainer, ALossThatIsNoNumberStopsWithTheBatchsNamesAndChangesNothing) {
  TrainerOptions options;
  options.schedule.steps = 10;
  TinyRun run(options);
  run.data.poisoned = 0;
  const Checkpoint before = run.trainer.state();
  at::Tensor weights = before.tensors.at("weights").at("head.weight").clone();
  EXPECT_THAT([&] { run.trainer.run(); },
              testing::ThrowsMessage<FailureError>(
                  testing::AllOf(HasSubstr("step 1"), HasSubstr("a.jpg, b.jpg, c.jpg, d.jpg"))));
  EXPECT_TRUE(at::equal(run.trainer.state().tensors.at("weights").at("head.weight"), weights));
}

TEST(Trainer, EndsWhenNoBetterEpochComes) {
  TrainerOptions options;
  options.epochs = 9;
  options.schedule.steps = 27;
  options.patience = 2;
  TinyRun run(options);
  run.figures = {0.1, 0.5, 0.5, 0.4, 0.9, 0.9};
  EXPECT_EQ(run.trainer.run(), Ending::early);
  EXPECT_EQ(run.best, (std::vector<bool>{true, true, false, false}));
}

TEST(Trainer, RefusesTheCheckpointOfAnotherRun) {
  TinyRun run(everything());
  Checkpoint state = run.trainer.state();
  state.tensors["weights"].erase("head.bias");
  EXPECT_THAT([&] { run.trainer.restore(state); },
              testing::ThrowsMessage<UsageError>(HasSubstr("head.bias")));
}

TEST(Trainer, NamesTheFiguresThatThereAre) {
  TrainerOptions options;
  options.schedule.steps = 30;
  options.metric = "f1";
  TinyRun run(options);
  EXPECT_THAT([&] { run.trainer.run(); },
              testing::ThrowsMessage<UsageError>(HasSubstr("accuracy")));
}

/// What two small batches tell of a large one is what the large one takes, and nothing is learned.
TEST(Trainer, KnowsTheMemoryOfAStepBeforehand) {
  for (const at::ScalarType precision : {at::kFloat, at::kBFloat16}) {
    constexpr std::int64_t kPhotos = 64;
    const Batch batch{.inputs = at::zeros({kPhotos, 3, 32, 48}),
                      .targets = at::full({kPhotos, 5}, 0.2)};
    int given = 0;
    TrainerHooks hooks;
    hooks.next = [&] { return given++ == 0 ? std::optional(batch) : std::nullopt; };
    hooks.validate = [](const NamedTensors&) { return Metrics{{"accuracy", 1}}; };
    TrainerOptions options = everything();
    options.accumulation = 1;
    options.epochs = 1;
    ClassifierLearning learning = every_way(precision);
    learning.mix = {};
    model::Config config = model::tests::tiny_config();
    config.width = 96;  // narrower ones take other ways through the products for few photos
    ClassifierLearner learner(model::tests::random_weights(config), learning);
    Trainer trainer(learner, options, hooks);
    const Checkpoint before = trainer.state();
    const auto expected = static_cast<double>(trainer.step_bytes(batch));
    EXPECT_EQ(trainer.state().texts, before.texts);
    const AllocationPeak measured;
    trainer.run();
    EXPECT_NEAR(static_cast<double>(measured.bytes()) / expected, 1, 0.15);
  }
}

}  // namespace
}  // namespace vitascope::train
