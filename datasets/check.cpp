#include "datasets/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "datasets/duplicates.h"
#include "datasets/fault.h"
#include "datasets/image_folder.h"
#include "vit/file.h"
#include "vit/image/header.h"

namespace vitascope::datasets {
namespace {

/// The check that threads share.
class Check {
 public:
  Check(const LabelledImages& images, const CheckOptions& options)
      : images_(images), options_(options), fingerprints_(images.samples.size()) {}

  void run(const std::function<bool(std::size_t)>& go_on) {
    const std::size_t wanted =
        std::min<std::size_t>(std::max(options_.threads, 1), images_.samples.size());
    std::vector<std::thread> threads;
    threads.reserve(wanted);
    running_ = wanted;
    for (std::size_t i = 0; i < wanted; ++i) {
      try {
        threads.emplace_back([this] { work(); });
      } catch (const std::system_error&) {  // no more threads to be had: fewer do it, or this one
        const std::lock_guard lock(mutex_);
        running_ -= wanted - i;
        break;
      }
    }
    if (threads.empty()) {
      running_ = 1;
      work();
    }
    watch(go_on);
    for (std::thread& thread : threads) thread.join();
  }

  CheckReport report() {
    report_.checked = done_;
    report_.interrupted = stop_ && done_ < images_.samples.size();
    report_.duplicates = find_duplicates(images_, fingerprints_);
    for (auto* list : {&report_.broken, &report_.damaged, &report_.tiny, &report_.misnamed})
      std::sort(list->begin(), list->end(),
                [](const Finding& a, const Finding& b) { return a.sample < b.sample; });
    return std::move(report_);
  }

 private:
  void watch(const std::function<bool(std::size_t)>& go_on) {
    std::unique_lock lock(mutex_);
    while (!finished_.wait_for(lock, std::chrono::milliseconds(100),
                               [this] { return running_ == 0; })) {
      lock.unlock();
      if (!go_on(done_)) stop_ = true;
      lock.lock();
    }
  }

  void work() {
    for (std::size_t i = next_++; i < images_.samples.size() && !stop_; i = next_++) {
      look_at(i);
      ++done_;
    }
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) finished_.notify_all();
  }

  void look_at(std::size_t index) {
    const Sample& sample = images_.samples[index];
    if (sample.stored) {
      fingerprints_[index] = fingerprint(images_, sample);
      return;
    }
    try {
      const auto file = MappedFile::open(sample.path);
      fingerprints_[index] = fingerprint(file->bytes());
      if (const std::string fault = extension_fault(file->bytes(), sample.path); !fault.empty())
        add(report_.misnamed, index, fault);
      const image::Picture picture =
          image::decode_bytes(file->bytes(), sample.path, options_.decode);
      if (!picture.warning.empty()) add(report_.damaged, index, picture.warning);
      const auto [width, height] = picture.size;
      if (std::min(width, height) < options_.smallest)
        add(report_.tiny, index, fmt::format("{} x {} pixels", width, height));
    } catch (...) {
      add(report_.broken, index, current_fault());
    }
  }

  void add(std::vector<Finding>& list, std::size_t index, const std::string& message) {
    const std::lock_guard lock(mutex_);
    list.push_back({index, message});
  }

  const LabelledImages& images_;
  const CheckOptions& options_;
  std::vector<Fingerprint> fingerprints_;  // each written by the thread that looks at the picture
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> done_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // of what follows
  std::condition_variable finished_;
  std::size_t running_ = 0;
  CheckReport report_;
};

}  // namespace

std::string extension_fault(Bytes content, const std::string& path) {
  const image::Format named = format_of_extension(path);
  const image::Format found = image::sniff(content);
  if (found == named || found == image::Format::unknown || named == image::Format::unknown)
    return "";
  return fmt::format("is {} inside, named {}", image::format_name(found),
                     std::filesystem::path(path).extension().string());
}

CheckReport check(const LabelledImages& images, const CheckOptions& options,
                  const std::function<bool(std::size_t done)>& go_on) {
  Check check(images, options);
  check.run(go_on);
  return check.report();
}

}  // namespace vitascope::datasets
