#pragma once

/// \file
/// Keeps OpenCV from writing to std::cerr.
namespace vitascope::image {

/// While one lives, what its thread writes to std::cerr is dropped; other threads' goes through.
/// OpenCV's imdecode prints the exceptions that it catches, besides failing: our own one line says
/// what is wrong. Not nestable.
class MutedErrorStream {
 public:
  MutedErrorStream();
  ~MutedErrorStream();
  MutedErrorStream(const MutedErrorStream&) = delete;
  MutedErrorStream& operator=(const MutedErrorStream&) = delete;
};

}  // namespace vitascope::image
