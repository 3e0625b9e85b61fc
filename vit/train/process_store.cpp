#include "vit/train/process_store.h"

#include <c10/util/Logging.h>
#include <fmt/format.h>
#include <netdb.h>

#include <chrono>
#include <cstdlib>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#include "vit/error.h"

namespace vitascope::train {
namespace {

// The others may have more to read before they come.
constexpr std::chrono::minutes kPatience{10};

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

/// Who is gone is said by us in one line; c10d's own stack traces would bury it.
void silence_warnings() {
  constexpr int kErrors = 2;
  if (std::getenv("TORCH_CPP_LOG_LEVEL") == nullptr) FLAGS_caffe2_log_level = kErrors;
}

/// Without an address c10d would try in silence until its patience ends.
void require_address(const std::string& host) {
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(host.c_str(), nullptr, nullptr, &found);
  if (failure != 0) {
    throw UsageError(fmt::format(
        "the processes can't meet at '{}': {}; expected the machine of the first one, which "
        "MASTER_ADDR names",
        host, ::gai_strerror(failure)));
  }
  ::freeaddrinfo(found);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

struct ProcessStore::Native {
  c10::intrusive_ptr<c10d::TCPStore> tcp;
  c10::intrusive_ptr<c10d::Store> store;
};

ProcessStore::ProcessStore(const StorePlace& place) : native_(std::make_unique<Native>()) {
  silence_warnings();
  require_address(place.host);
  c10d::TCPStoreOptions options;
  options.port = place.port;
  options.isServer = place.serve;
  options.waitWorkers = false;
  options.timeout = kPatience;
  try {
    native_->tcp = c10::make_intrusive<c10d::TCPStore>(place.host, options);
  } catch (const std::exception& error) {
    throw UsageError(fmt::format(
        "the processes can't meet at {}, port {}: {}; MASTER_ADDR and MASTER_PORT name another "
        "place",
        place.host, place.port, first_line(error.what())));
  }
  native_->store = native_->tcp;
  if (!place.run.empty()) {
    native_->store = c10::make_intrusive<c10d::PrefixStore>(place.run, native_->tcp);
  }
}

ProcessStore::~ProcessStore() = default;
ProcessStore::ProcessStore(ProcessStore&&) noexcept = default;

std::uint16_t ProcessStore::port() const { return native_->tcp->getPort(); }

void ProcessStore::set(const std::string& key, const std::string& value) {
  native_->store->set(key, bytes_of(value));
}

void ProcessStore::set_first(const std::string& key, const std::string& value) {
  native_->store->compareSet(key, {}, bytes_of(value));
}

bool ProcessStore::has(const std::string& key) { return native_->store->check({key}); }

std::vector<std::string> ProcessStore::get(const std::vector<std::string>& keys) {
  std::vector<std::string> values;
  values.reserve(keys.size());
  for (const std::vector<std::uint8_t>& value : native_->store->multiGet(keys)) {
    values.emplace_back(value.begin(), value.end());
  }
  return values;
}

const c10::intrusive_ptr<c10d::Store>& ProcessStore::native() const { return native_->store; }

}  // namespace vitascope::train
