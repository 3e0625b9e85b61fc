#pragma once

#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace c10d {
class Store;
}

/// \file
/// A few words that the processes of a run leave for each other, by key, over TCP: c10d's store.
namespace vitascope::train {

/// Where the store is, and whose words these are.
struct StorePlace {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;            ///< 0, for who serves: any free one
  bool serve = false;                ///< in this process; otherwise it is reached
  std::string run{};                 ///< goes before every key: a second attempt meets no old words
  std::string keeper = "process 0";  ///< who serves, for messages
};

/// A connection to the store. While one thread waits in get() the others wait for it.
class ProcessStore {
 public:
  /// \throws UsageError when the port is taken or nobody answers, naming both
  explicit ProcessStore(const StorePlace& place);
  ~ProcessStore();
  ProcessStore(ProcessStore&&) noexcept;

  std::uint16_t port() const;

  void set(const std::string& key, const std::string& value);
  /// Sets what nobody has set yet.
  void set_first(const std::string& key, const std::string& value);
  bool has(const std::string& key);
  /// Waits until all are there.
  std::vector<std::string> get(const std::vector<std::string>& keys);

  const c10::intrusive_ptr<c10d::Store>& native() const;

 private:
  struct Native;
  std::unique_ptr<Native> native_;
};

}  // namespace vitascope::train
