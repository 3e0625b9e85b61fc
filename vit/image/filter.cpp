#include "vit/image/filter.h"

namespace vitascope::image {

const char* filter_name(Filter filter) {
  switch (filter) {
    case Filter::nearest:
      return "nearest";
    case Filter::lanczos:
      return "lanczos";
    case Filter::bilinear:
      return "bilinear";
    case Filter::bicubic:
      return "bicubic";
    case Filter::box:
      return "box";
    case Filter::hamming:
      return "hamming";
  }
  return "unknown";
}

}  // namespace vitascope::image
