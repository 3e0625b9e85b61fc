#include "datasets/caption_json.h"
#include "datasets/captioned_images.h"
#include "tests/fuzz/touch.h"

/// The first byte chooses between results and captions of any kind.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vitascope;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::refuse_or_accept([&] {
    if (text.front() == 'r') {
      datasets::parse_caption_results(text.substr(1), "input");
      return;
    }
    const datasets::CaptionedImages read = datasets::parse_captions(text.substr(1), "input");
    if (read.photos.empty()) __builtin_trap();
    for (const datasets::CaptionedImage& photo : read.photos) {
      if (photo.captions.empty()) __builtin_trap();
      for (const std::string& caption : photo.captions)
        if (caption.empty()) __builtin_trap();
    }
  });
  return 0;
}
