#include "datasets/training_loader.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "datasets/fault.h"
#include "vit/error.h"

namespace vitascope::datasets {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kStateName = "training loader";

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// A photo made ready, or why there is none.
struct Loaded {
  std::size_t sample = 0;
  at::Tensor pixels;
  std::string error;
};

/// What the samples show, as the loss wants it.
at::Tensor targets_of(const LabelledImages& images, const std::vector<std::size_t>& samples) {
  const auto count = static_cast<std::int64_t>(samples.size());
  if (!images.multi_label) {
    at::Tensor targets = at::empty({count}, at::kLong);
    auto* labels = targets.data_ptr<std::int64_t>();
    for (const std::size_t sample : samples) *labels++ = images.samples[sample].labels.at(0);
    return targets;
  }
  const auto classes = static_cast<std::int64_t>(images.classes.size());
  at::Tensor targets = at::zeros({count, classes}, at::kFloat);
  auto* row = targets.data_ptr<float>();
  for (const std::size_t sample : samples) {
    for (const int label : images.samples[sample].labels) row[label] = 1;
    row += classes;
  }
  return targets;
}

/// The rarest label of each sample; those without labels are a group too.
std::vector<std::size_t> groups_of(const LabelledImages& images,
                                   const std::vector<std::size_t>& samples) {
  std::vector<std::size_t> counts(images.classes.size());
  for (const std::size_t sample : samples) {
    for (const int label : images.samples[sample].labels) ++counts[static_cast<std::size_t>(label)];
  }
  std::vector<std::size_t> groups;
  groups.reserve(samples.size());
  for (const std::size_t sample : samples) {
    const std::vector<int>& labels = images.samples[sample].labels;
    const auto rarest = std::ranges::min_element(
        labels, {}, [&](int label) { return counts[static_cast<std::size_t>(label)]; });
    groups.push_back(rarest == labels.end() ? counts.size() : static_cast<std::size_t>(*rarest));
  }
  return groups;
}

at::Tensor weights_of(const LabelledImages& images, const std::vector<std::size_t>& samples) {
  at::Tensor weights = at::empty({static_cast<std::int64_t>(samples.size())}, at::kFloat);
  auto* weight = weights.data_ptr<float>();
  for (const std::size_t sample : samples)
    *weight++ = static_cast<float>(images.samples[sample].weight);
  return weights;
}

}  // namespace

struct TrainingLoader::State {
  std::shared_ptr<const LabelledImages> images;
  std::vector<std::size_t> samples;
  PhotoRecipe recipe;
  TrainingLoaderOptions options;
  image::Size size;

  mutable std::mutex mutex;
  std::condition_variable work;   // workers wait for room
  std::condition_variable ready;  // next() waits for photos
  bool stopping = false;
  std::uint64_t generation = 0;  // of the plan; what was begun under an older one is thrown away
  std::uint64_t epoch = 0;
  std::size_t position = 0;                  // where in the epoch's order the next batch begins
  std::vector<std::size_t> groups;           // [samples] by class, where classes are balanced
  std::vector<Draw> plan;                    // samples of this process from there on
  std::deque<std::size_t> sizes;             // of its batches
  std::size_t claimed = 0;                   // photos of the plan that workers have taken
  std::size_t handed = 0;                    // photos of the plan that next() has handed out
  std::deque<std::optional<Loaded>> window;  // from `handed` on
  std::vector<std::thread> threads;
  std::optional<Clock::time_point> epoch_start;
  double waited = 0;

  void make_plan();
  void run();
  std::vector<Draw> order() const;
  Loaded load(const Draw& draw, std::uint64_t in_epoch) const;
  std::vector<Loaded> take(std::size_t count);
  TrainingBatch collate(std::vector<Loaded> photos) const;
};

/// Plans what is left of the epoch and lets the workers begin. The mutex is held.
void TrainingLoader::State::make_plan() {
  ++generation;
  plan.clear();
  sizes.clear();
  window.clear();
  claimed = handed = 0;
  epoch_start.reset();
  waited = 0;
  const std::vector<Draw> all = order();
  for (const Span& share : shares(samples.size(), position, options.batch_size, options.shard)) {
    sizes.push_back(share.end - share.begin);
    for (std::size_t i = share.begin; i < share.end; ++i)
      plan.push_back({samples[all[i].index], all[i].turn});
  }
  work.notify_all();
}

/// The epoch's positions in `samples`.
std::vector<Draw> TrainingLoader::State::order() const {
  if (options.balanced) return balanced_order(groups, recipe.seed, epoch);
  std::vector<Draw> draws;
  draws.reserve(samples.size());
  for (const std::size_t index : epoch_order(samples.size(), recipe.seed, epoch)) {
    draws.push_back({index, 0});
  }
  return draws;
}

Loaded TrainingLoader::State::load(const Draw& draw, std::uint64_t in_epoch) const {
  Loaded loaded;
  loaded.sample = draw.index;
  try {
    // A picture that comes again in an epoch is changed in another way.
    loaded.pixels = augmented_photo(*images, draw.index, in_epoch + (draw.turn << 32), recipe);
  } catch (...) {
    loaded.error = current_fault();
  }
  return loaded;
}

void TrainingLoader::State::run() {
  std::unique_lock lock(mutex);
  while (true) {
    work.wait(lock, [this] {
      return stopping || (claimed < plan.size() && claimed < handed + options.ahead);
    });
    if (stopping) return;
    const std::size_t at = claimed++;
    const Draw draw = plan[at];
    const std::uint64_t begun = generation;
    const std::uint64_t in_epoch = epoch;
    window.emplace_back();
    lock.unlock();
    Loaded loaded = load(draw, in_epoch);
    lock.lock();
    if (begun != generation) continue;
    window[at - handed] = std::move(loaded);
    ready.notify_all();
  }
}

/// The next `count` photos of the plan, in its order.
std::vector<Loaded> TrainingLoader::State::take(std::size_t count) {
  std::vector<Loaded> photos;
  photos.reserve(count);
  std::unique_lock lock(mutex);
  const auto begin = Clock::now();
  if (!epoch_start) epoch_start = begin;
  while (photos.size() < count) {
    ready.wait(lock, [this] { return !window.empty() && window.front(); });
    photos.push_back(std::move(*window.front()));
    window.pop_front();
    ++handed;
    work.notify_one();
  }
  waited += seconds_between(begin, Clock::now());
  return photos;
}

TrainingBatch TrainingLoader::State::collate(std::vector<Loaded> photos) const {
  TrainingBatch batch;
  std::vector<at::Tensor> pixels;
  pixels.reserve(photos.size());
  for (Loaded& photo : photos) {
    if (!photo.error.empty()) {
      batch.skipped.push_back({images->samples[photo.sample].path, std::move(photo.error)});
      continue;
    }
    batch.samples.push_back(photo.sample);
    pixels.push_back(std::move(photo.pixels));
  }
  if (!batch.skipped.empty() && options.on_bad_image == OnBadImage::error) {
    std::string message = batch.skipped.front().message;
    for (std::size_t i = 1; i < batch.skipped.size(); ++i)
      message += fmt::format("; {}: {}", batch.skipped[i].path, batch.skipped[i].message);
    throw InputError(batch.skipped.front().path,
                     message + " (--on-bad-image skip goes on without such photos)");
  }
  batch.pixels =
      pixels.empty() ? at::empty({0, 3, size.height, size.width}, at::kFloat) : at::stack(pixels);
  batch.targets = targets_of(*images, batch.samples);
  batch.weights = weights_of(*images, batch.samples);
  return batch;
}

TrainingLoader::TrainingLoader(std::shared_ptr<const LabelledImages> images,
                               std::vector<std::size_t> samples, PhotoRecipe recipe,
                               const TrainingLoaderOptions& options)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  if (samples.empty()) throw UsageError("there are no pictures to learn from");
  const auto size = image::output_size(recipe.specification);
  if (!size)
    throw UsageError(
        "pictures of a batch need one size, and this model's depends on the picture; "
        "--input-size sets one");
  state.size = *size;
  state.images = std::move(images);
  state.samples = std::move(samples);
  if (options.balanced) state.groups = groups_of(*state.images, state.samples);
  state.recipe = std::move(recipe);
  state.options = options;
  state.options.batch_size = std::max<std::size_t>(options.batch_size, 1);
  state.options.ahead = std::max<std::size_t>(options.ahead, 1);
  state.make_plan();
  const std::size_t threads =
      std::min<std::size_t>(std::max(options.threads, 1), state.samples.size());
  state.threads.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) {
    try {
      state.threads.emplace_back([&state] { state.run(); });
    } catch (const std::system_error&) {
      // The system grants no more threads; fewer of them only take longer.
      if (i == 0) throw;
      break;
    }
  }
}

TrainingLoader::~TrainingLoader() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->work.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

std::optional<TrainingBatch> TrainingLoader::next() {
  State& state = *state_;
  std::size_t count = 0;
  {
    const std::lock_guard lock(state.mutex);
    if (state.sizes.empty()) {
      ++state.epoch;
      state.position = 0;
      state.make_plan();
      return std::nullopt;
    }
    count = state.sizes.front();
    state.sizes.pop_front();
    state.position = std::min(state.position + state.options.batch_size, state.samples.size());
  }
  return state.collate(state.take(count));
}

std::size_t TrainingLoader::batches() const {
  const State& state = *state_;
  return shares(state.samples.size(), 0, state.options.batch_size, state.options.shard).size();
}

std::uint64_t TrainingLoader::epoch() const {
  const std::lock_guard lock(state_->mutex);
  return state_->epoch;
}

double TrainingLoader::waiting_share() const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->epoch_start) return 0;
  const double elapsed = seconds_between(*state_->epoch_start, Clock::now());
  return elapsed > 0 ? std::min(state_->waited / elapsed, 1.0) : 0;
}

LoaderState TrainingLoader::state() const {
  const std::lock_guard lock(state_->mutex);
  return {kStateName, fmt::format("1 {} {} {} {}", state_->recipe.seed, state_->samples.size(),
                                  state_->epoch, state_->position)};
}

void TrainingLoader::restore(const LoaderState& saved) {
  State& state = *state_;
  unsigned long long seed = 0;
  unsigned long long count = 0;
  unsigned long long epoch = 0;
  unsigned long long position = 0;
  char rest = 0;
  const int read = std::sscanf(saved.bytes.c_str(), "1 %llu %llu %llu %llu%c", &seed, &count,
                               &epoch, &position, &rest);
  if (saved.name != kStateName || read != 4 || position > count)
    throw UsageError("the saved position in the data is damaged or of another version");
  if (seed != state.recipe.seed || count != state.samples.size())
    throw UsageError(fmt::format(
        "the saved run learned from {} pictures with seed {}, this one has {} with seed {}", count,
        seed, state.samples.size(), state.recipe.seed));
  const std::lock_guard lock(state.mutex);
  state.epoch = epoch;
  state.position = position;
  state.make_plan();
}

}  // namespace vitascope::datasets
