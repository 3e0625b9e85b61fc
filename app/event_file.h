#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// \file
/// The event file that TensorBoard opens: records of TFRecord that hold protocol buffers of
/// tensorflow/core/util/event.proto.
namespace vitascope::app {

/// Numbers of one moment.
struct ScalarEvent {
  double wall_time = 0;  ///< seconds since 1970
  std::int64_t step = 0;
  std::map<std::string, double> values{};  ///< by tag, such as "loss/train"
};

/// The bytes of one record.
std::string event_record(const ScalarEvent& event);

/// The record that every event file begins with.
std::string event_version_record(double wall_time);

/// CRC-32C (Castagnoli), as iSCSI defines it: RFC 3720, appendix B.4.
std::uint32_t crc32c(std::string_view bytes);

/// The event file of a run in its folder.
class EventFile {
 public:
  explicit EventFile(std::string folder) : folder_(std::move(folder)) {}

  /// Writes a new file with `events` in place of those that this program wrote there before: a run
  /// that goes on shows no moment twice. Its name is new too, so that a TensorBoard that is open
  /// sees it. \throws FailureError when writing fails
  void begin(const std::vector<ScalarEvent>& events);

  /// Appends, because an open TensorBoard goes on reading where the file ended; a torn record at
  /// the end is ignored by it and gone after begin(). \throws FailureError when writing fails
  void add(const ScalarEvent& event) const;

 private:
  std::string folder_, path_;
};

}  // namespace vitascope::app
