#include "tests/fuzz/touch.h"
#include "vit/image/header.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vitascope;
  const Bytes file = std::as_bytes(std::span(data, size));
  const int orientation = image::exif_orientation(file);
  if (orientation < 1 || orientation > 8) __builtin_trap();
  image::format_name(image::sniff(file));
  fuzz::refuse_or_accept([&] {
    const image::Header header = image::read_header(file, "input");
    if (header.orientation < 1 || header.orientation > 8) __builtin_trap();
    if (header.stored.width < 0 || header.stored.height < 0) __builtin_trap();
  });
  return 0;
}
