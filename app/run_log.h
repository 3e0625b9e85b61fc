#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/event_file.h"

/// \file
/// The log of a run: a row an epoch, as log.jsonl, log.csv and TensorBoard's event file.
namespace vitascope::app {

/// A line of the log.
struct LogRow {
  std::int64_t epoch = 0;  ///< from 1
  std::int64_t step = 0;
  double loss = 0, accuracy = 0;  ///< of training
  std::map<std::string, double> validation{};
  double rate = 0, images_per_second = 0, waiting = 0;
  double memory = 0;  ///< the most so far, in bytes
  double time = 0;    ///< when the epoch ended, in seconds since 1970
  bool best = false;
};

/// The row as a line of log.jsonl, without its end.
std::string log_line(const LogRow& row);

/// The row of such a line; a number that JSON can't hold comes back as NaN.
/// \throws InputError when it is no such line
LogRow parse_log_line(const std::string& line);

/// What TensorBoard is shown of a row: loss/train, loss/validation, accuracy/..., learning_rate,
/// images_per_second, waiting; its step is the epoch.
ScalarEvent scalars_of(const LogRow& row);

/// The epoch whose weights were kept: the last row that was the best until then; null without one.
const LogRow* best_row(const std::vector<LogRow>& rows);

/// The files of the log in a run's folder.
class RunLog {
 public:
  explicit RunLog(std::string folder);

  /// Begins with the rows of the first `epochs` epochs, as far as they are there already; what the
  /// log says of later ones will come again and is dropped.
  void begin(std::int64_t epochs);
  /// Adds a row. \throws FailureError when writing fails
  void add(const LogRow& row);

  const std::vector<LogRow>& rows() const { return rows_; }

 private:
  void write() const;

  std::string folder_;
  EventFile events_;
  std::vector<LogRow> rows_;
};

}  // namespace vitascope::app
