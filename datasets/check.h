#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "datasets/labelled_images.h"
#include "vit/image/decode.h"

/// \file
/// Every picture of a data set decoded once, and what is wrong with them.
namespace vitascope::datasets {

/// What is looked for.
struct CheckOptions {
  int threads = 1;
  int smallest = 32;  ///< a photo with a shorter edge is tiny; pictures of benchmarks may be
  image::DecodeOptions decode;
};

/// A picture and what is odd about it.
struct Finding {
  std::size_t sample = 0;
  std::string message;  ///< without the path
};

/// All findings, each list in the order of the samples.
struct CheckReport {
  std::size_t checked = 0;
  std::vector<Finding> broken;    ///< can't be decoded
  std::vector<Finding> damaged;   ///< decoded with a warning
  std::vector<Finding> tiny;      ///< short edge below CheckOptions::smallest
  std::vector<Finding> misnamed;  ///< the content is of another format than the extension says
  std::vector<std::vector<std::size_t>> duplicates;  ///< see find_duplicates
  bool interrupted = false;  ///< `checked` pictures were looked at, the rest not
};

/// Decodes in `threads` threads, each a picture at a time. `go_on` is called about ten times a
/// second with the number of pictures done; false ends the check, and what was found so far is
/// returned.
CheckReport check(const LabelledImages& images, const CheckOptions& options,
                  const std::function<bool(std::size_t done)>& go_on);

/// "a PNG picture named .jpg", or "" when content and extension agree or either is unknown.
std::string extension_fault(Bytes content, const std::string& path);

}  // namespace vitascope::datasets
