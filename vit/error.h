#pragma once

#include <stdexcept>
#include <string>

/// \file
/// The few kinds of error that this program knows. They are thrown where the fault is seen and
/// caught once, in main, which turns the kind into an exit status.
namespace vitascope {

/// What the person typed, or a configuration, is wrong. Exit status 2; nothing was written.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file is not what it should be. For one photo among many: exit status 1 and go on; for a model:
/// exit status 2. what() already begins with the path, escaped for a terminal.
class InputError : public std::runtime_error {
 public:
  /// \param path    the file, as the person named it
  /// \param message what was got, what was expected, what to do; without the path
  InputError(const std::string& path, const std::string& message);

  const std::string& path() const { return path_; }
  /// The message without the path.
  const std::string& message() const { return message_; }

 private:
  std::string path_;
  std::string message_;
};

/// Something failed while running (disk full, memory, device): exit status 3; what was done is
/// kept.
class FailureError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A mistake of ours: exit status 70 with a line that asks for a report.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace vitascope
