#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/labelled_images.h"
#include "vit/image/decode.h"
#include "vit/image/preprocess.h"
#include "vit/image/specification.h"

/// \file
/// Photos decoded and prepared ahead of the model, in order.
namespace vitascope::datasets {

/// One photo, or why there is none.
struct Item {
  std::size_t index = 0;  ///< position in the list of paths or samples
  std::string path;
  image::Size size;  ///< upright size of the photo
  std::optional<image::Prepared> prepared;
  std::string error;    ///< set when `prepared` is not: the message without the path
  std::string warning;  ///< damage that was forgiven, or empty
  double decode_seconds = 0, prepare_seconds = 0;
};

/// Bounds of the read-ahead.
struct LoaderOptions {
  int threads = 1;                     ///< worker threads
  std::size_t ahead = 32;              ///< photos kept ready at most
  std::size_t max_bytes = 256u << 20;  ///< bytes of decoded and prepared pixels in flight at most
  bool overlap = false;  ///< decode while the consumer computes (the model is on a GPU)
  image::DecodeOptions decode;
};

/// Worker threads decode into a bounded queue; next() hands items out in order. On the CPU decoding
/// and the model take turns with all cores: workers run only while next() waits for them, so that
/// there are never more busy threads than cores. With `overlap` they run all the time.
class Loader {
 public:
  Loader(std::vector<std::string> paths, image::Specification specification,
         const LoaderOptions& options);
  /// The pictures of a labelled set. \param samples indices into the set
  Loader(std::shared_ptr<const LabelledImages> images, const std::vector<std::size_t>& samples,
         image::Specification specification, const LoaderOptions& options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// The next `count` photos, fewer at the end, none when all are done. Never throws for a bad
  /// photo.
  std::vector<Item> next(std::size_t count);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vitascope::datasets
