#include "vit/train/process_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace vitascope::train {
namespace {

using namespace std::chrono_literals;

constexpr auto kBeat = 1000ms;
constexpr auto kSilence = 20s;           // after which a process is lost
constexpr auto kSuspiciousSilence = 5s;  // when a connection broke too
constexpr auto kFarewell = 5s;           // that the store is kept for those who are late
constexpr const char* kLeft = "left";
constexpr const char* kFailed = "failed";

std::string host_and_process() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format("{}, pid {}", host.data(), ::getpid());
}

std::vector<std::string> keys(const char* kind, int processes) {
  std::vector<std::string> result;
  result.reserve(static_cast<std::size_t>(processes));
  for (int rank = 0; rank < processes; ++rank) result.push_back(fmt::format("{}/{}", kind, rank));
  return result;
}

}  // namespace

ProcessWatch::ProcessWatch(const StorePlace& place, Seat seat,
                           std::function<void(const std::string&)> on_lost)
    : seat_(seat),
      on_lost_(std::move(on_lost)),
      place_(place),
      store_({.host = place.host, .port = place.port, .run = place.run, .keeper = place.keeper}),
      keys_(keys("sign", seat.processes)) {
  const std::vector<std::string> place_keys = keys("place", seat.processes);
  const auto own = static_cast<std::size_t>(seat.rank);
  store_.set(keys_[own], "0");
  store_.set(place_keys[own], host_and_process());
  places_ = store_.get(place_keys);
  signs_.assign(keys_.size(), {"", Clock::now()});
  seen_ = Clock::now();
  thread_ = std::thread([this] { run(); });
  guard_ = std::thread([this] { guard(); });
}

ProcessWatch::~ProcessWatch() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
  guard_.join();
  leave();
}

/// Says goodbye; who serves the store keeps it until the others have done so.
void ProcessWatch::leave() noexcept {
  try {
    store_.set(keys_[static_cast<std::size_t>(seat_.rank)], kLeft);
    const auto until = Clock::now() + kFarewell;
    while (place_.serve && Clock::now() < until) {
      bool all = true;
      for (const std::string& sign : store_.get(keys_)) all = all && sign == kLeft;
      if (all) break;
      std::this_thread::sleep_for(20ms);
    }
  } catch (const std::exception&) {
    return;  // nobody is there to hear it
  }
}

bool ProcessWatch::pause(std::chrono::milliseconds duration) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, duration, [this] { return ending_; });
}

void ProcessWatch::run() {
  auto last = Clock::now();
  for (std::uint64_t beat = 1; !pause(suspicion_ ? kBeat / 5 : kBeat); ++beat) {
    // Somebody may have stopped this process or the machine for a while.
    const bool woken = Clock::now() - last > kSuspiciousSilence;
    last = Clock::now();
    try {
      store_.set(keys_[static_cast<std::size_t>(seat_.rank)], fmt::format("{}", beat));
      look(woken);
      seen_ = Clock::now();
    } catch (const std::exception&) {
      lost(place_.keeper == "process 0" ? name_of(0) + " is gone" : place_.keeper + " is gone");
    }
  }
}

void ProcessWatch::look(bool woken) {
  if (store_.has(kFailed)) {
    const std::string failure = store_.get({kFailed}).front();
    const std::size_t space = failure.find(' ');
    const auto rank = static_cast<std::size_t>(std::stoul(failure.substr(0, space)));
    if (rank != static_cast<std::size_t>(seat_.rank)) {
      lost(fmt::format("{} stopped: {}", name_of(rank), failure.substr(space + 1)));
    }
  }
  const std::vector<std::string> texts = store_.get(keys_);
  const auto now = Clock::now();
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    Sign& sign = signs_[rank];
    if (woken || sign.text != texts[rank]) sign = {texts[rank], now};
    const auto silence = now - sign.changed;
    if (texts[rank] == kLeft || silence < (suspicion_ ? kSuspiciousSilence : kSilence)) continue;
    lost(fmt::format("{} is gone: no sign of life for {} s", name_of(rank),
                     std::chrono::duration_cast<std::chrono::seconds>(silence).count()));
  }
}

/// The store itself may never answer, where its machine lost power.
void ProcessWatch::guard() {
  auto last = Clock::now();
  while (!pause(kBeat)) {
    const auto now = Clock::now();
    if (now - last > kSuspiciousSilence) seen_ = now;
    last = now;
    if (now - seen_.load() > kSilence) lost(name_of(0) + " does not answer");
  }
}

void ProcessWatch::lost(const std::string& message) {
  if (!told_.exchange(true)) on_lost_(message);
}

std::string ProcessWatch::name_of(std::size_t rank) const {
  return fmt::format("process {} of {} ({})", rank, seat_.processes, places_.at(rank));
}

void ProcessWatch::fail(const std::string& reason) {
  try {
    store_.set_first(kFailed, fmt::format("{} {}", seat_.rank, reason));
  } catch (const std::exception&) {
    return;  // nobody is there to hear it
  }
}

void ProcessWatch::await_loss() {
  suspicion_ = true;
  pause(std::chrono::duration_cast<std::chrono::milliseconds>(kSilence + kBeat));
}

}  // namespace vitascope::train
