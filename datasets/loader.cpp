#include "datasets/loader.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "datasets/fault.h"
#include "vit/file.h"
#include "vit/image/header.h"

namespace vitascope::datasets {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Bytes that decoding takes, from the header: the picture and one copy while it is turned or
/// resized. HEIF and AVIF tell their size only to their decoder; 24 megapixels are assumed.
std::size_t decoded_bytes(const image::Header& header) {
  const std::uint64_t pixels = header.stored.width > 0
                                   ? std::uint64_t(header.stored.width) * header.stored.height
                                   : 24'000'000;
  return pixels * 3 * 2;
}

}  // namespace

struct Loader::State {
  std::vector<std::string> paths;
  std::shared_ptr<const LabelledImages> images;    // of a labelled set, else null
  std::vector<std::optional<std::size_t>> stored;  // then: where pictures are in memory
  image::Specification specification;
  LoaderOptions options;

  std::mutex mutex;
  std::condition_variable work;   // workers wait: for the gate, for room, for bytes
  std::condition_variable ready;  // next() waits: for items, for workers to come to rest
  bool stopping = false;
  bool gate = false;               // workers may begin a photo or go on with one
  int busy = 0;                    // workers past the gate
  std::size_t next_to_claim = 0;   // index of the first photo that no worker has taken
  std::size_t next_to_hand = 0;    // index of the first photo that next() has not handed out
  std::size_t decoding_bytes = 0;  // reserved by photos that are being decoded
  std::size_t ready_bytes = 0;     // held by prepared photos
  std::deque<std::optional<Item>> window;  // from next_to_hand on
  std::vector<std::thread> threads;

  void start();
  void run();
  bool admitted(std::size_t index, std::size_t bytes) const;
  bool reserve(std::size_t index, std::size_t bytes);
  bool load(Item& item);
  bool load_file(Item& item, std::size_t& reserved);
  bool load_stored(Item& item, std::size_t& reserved);
  template <typename Decode>
  void prepare(Item& item, const Decode& decode) const;
};

/// Whether a photo of `bytes` may be decoded now. The photo that next() hands out next may always
/// be decoded alone, however large it is, so that the queue can't lock up.
bool Loader::State::admitted(std::size_t index, std::size_t bytes) const {
  if (decoding_bytes + ready_bytes + bytes <= options.max_bytes) return true;
  return index == next_to_hand && decoding_bytes == 0;
}

/// Waits for room and for the gate; false when the loader is being destroyed.
bool Loader::State::reserve(std::size_t index, std::size_t bytes) {
  std::unique_lock lock(mutex);
  const auto may_go_on = [&] { return stopping || (gate && admitted(index, bytes)); };
  if (!may_go_on()) {
    --busy;
    ready.notify_all();
    work.wait(lock, may_go_on);
    ++busy;
  }
  if (stopping) return false;
  decoding_bytes += bytes;
  return true;
}

template <typename Decode>
void Loader::State::prepare(Item& item, const Decode& decode) const {
  const auto decode_start = std::chrono::steady_clock::now();
  const image::Picture picture = decode();
  item.decode_seconds = seconds_since(decode_start);
  item.size = picture.size;
  item.warning = picture.warning;
  const auto prepare_start = std::chrono::steady_clock::now();
  item.prepared = image::prepare(picture, specification);
  item.prepare_seconds = seconds_since(prepare_start);
}

bool Loader::State::load_file(Item& item, std::size_t& reserved) {
  const auto file = MappedFile::open(item.path);
  const image::Header header = image::read_header(file->bytes(), item.path);
  const double megapixels = double(header.stored.width) * header.stored.height / 1e6;
  // A picture above the limit is refused by the decoder from its header and takes no memory.
  const std::size_t bytes = megapixels > options.decode.max_megapixels ? 0 : decoded_bytes(header);
  if (!reserve(item.index, bytes)) return false;
  reserved = bytes;
  prepare(item, [&] { return image::decode_bytes(file->bytes(), item.path, options.decode); });
  return true;
}

bool Loader::State::load_stored(Item& item, std::size_t& reserved) {
  const image::Size size = images->stored->size;
  const std::size_t bytes = static_cast<std::size_t>(size.width) * size.height * 3;
  if (!reserve(item.index, bytes)) return false;
  reserved = bytes;
  prepare(item, [&] { return images->stored->picture(*stored[item.index]); });
  return true;
}

/// Fills the item; false when the loader is being destroyed. Any fault becomes the item's error.
bool Loader::State::load(Item& item) {
  std::size_t reserved = 0;
  bool going_on = true;
  try {
    const bool in_memory = images != nullptr && stored[item.index].has_value();
    going_on = in_memory ? load_stored(item, reserved) : load_file(item, reserved);
  } catch (...) {
    item.error = current_fault();
  }
  if (!item.error.empty()) item.prepared.reset();
  const std::lock_guard lock(mutex);
  decoding_bytes -= reserved;
  if (item.prepared) ready_bytes += item.prepared->pixels.nbytes();
  return going_on;
}

void Loader::State::run() {
  std::unique_lock lock(mutex);
  while (true) {
    work.wait(lock, [this] {
      return stopping || next_to_claim == paths.size() ||
             (gate && next_to_claim < next_to_hand + options.ahead);
    });
    if (stopping || next_to_claim == paths.size()) return;
    Item item;
    item.index = next_to_claim++;
    item.path = paths[item.index];
    window.emplace_back();
    ++busy;
    lock.unlock();
    const bool going_on = load(item);
    lock.lock();
    --busy;
    if (!going_on) return;
    window[item.index - next_to_hand] = std::move(item);
    ready.notify_all();
    work.notify_all();
  }
}

void Loader::State::start() {
  options.ahead = std::max<std::size_t>(options.ahead, 1);
  gate = options.overlap;
  const std::size_t count = std::min<std::size_t>(std::max(options.threads, 1), paths.size());
  for (std::size_t i = 0; i < count; ++i) {
    try {
      threads.emplace_back([this] { run(); });
    } catch (const std::system_error&) {
      // The system grants no more threads; fewer of them only take longer.
      if (i == 0) throw;
      break;
    }
  }
}

Loader::Loader(std::vector<std::string> paths, image::Specification specification,
               const LoaderOptions& options)
    : state_(std::make_unique<State>()) {
  state_->paths = std::move(paths);
  state_->specification = std::move(specification);
  state_->options = options;
  state_->start();
}

Loader::Loader(std::shared_ptr<const LabelledImages> images,
               const std::vector<std::size_t>& samples, image::Specification specification,
               const LoaderOptions& options)
    : state_(std::make_unique<State>()) {
  state_->paths.reserve(samples.size());
  state_->stored.reserve(samples.size());
  for (const std::size_t sample : samples) {
    state_->paths.push_back(images->samples.at(sample).path);
    state_->stored.push_back(images->samples[sample].stored);
  }
  state_->images = std::move(images);
  state_->specification = std::move(specification);
  state_->options = options;
  state_->start();
}

Loader::~Loader() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->work.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

std::vector<Item> Loader::next(std::size_t count) {
  State& state = *state_;
  std::vector<Item> items;
  std::unique_lock lock(state.mutex);
  count = std::min(count, state.paths.size() - state.next_to_hand);
  state.gate = true;
  state.work.notify_all();
  while (items.size() < count) {
    state.ready.wait(lock, [&] { return !state.window.empty() && state.window.front(); });
    items.push_back(std::move(*state.window.front()));
    state.window.pop_front();
    ++state.next_to_hand;
    if (items.back().prepared) state.ready_bytes -= items.back().prepared->pixels.nbytes();
    state.work.notify_all();
  }
  if (!state.options.overlap) {
    // The cores are the model's now; who is in the middle of a photo finishes it first.
    state.gate = false;
    state.ready.wait(lock, [&] { return state.busy == 0; });
  }
  return items;
}

}  // namespace vitascope::datasets
