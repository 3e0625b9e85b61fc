#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>

/// \file
/// How far a run is, on stderr.
namespace vitascope::app {

/// A bar where stderr is a terminal; elsewhere a line every few seconds, so that short runs say
/// nothing and logs stay small.
class Progress {
 public:
  /// \param total number of steps
  /// \param quiet say nothing
  Progress(std::size_t total, bool quiet);

  /// For tests: where to write, whether that is a terminal, and a clock in seconds.
  Progress(std::size_t total, std::FILE* stream, bool terminal, std::function<double()> clock);

  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` steps are done; draws when it is time to.
  void show(std::size_t done);
  /// The same with a text of the caller's.
  void show(std::size_t done, const std::function<std::string()>& text);

  /// Removes the bar, so that other output can begin in the first column.
  void clear();

 private:
  std::size_t total_;
  std::FILE* stream_;  ///< null: quiet
  bool terminal_;
  std::function<double()> clock_;
  double start_;
  double last_;
  bool drawn_ = false;
};

/// "37/500, 14.8 a second, 31 s left"; where one takes longer than a second, "3/8, 12.4 s each, 62
/// s left".
std::string progress_text(std::size_t done, std::size_t total, double seconds);

/// "42 s", "26 min", "5.3 h".
std::string duration_text(double seconds);

}  // namespace vitascope::app
