#include <memory>

#include "datasets/coco_annotations.h"
#include "tests/fuzz/touch.h"

/// What is read is drawn as well: at the size that it was annotated at where that is small, and
/// stretched.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vitascope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::refuse_or_accept([&] {
    const datasets::CocoAnnotations read =
        datasets::parse_coco_annotations(parse_json(text, "input"), "input");
    for (const datasets::CocoPhoto& photo : read.photos) {
      for (const image::Size canvas : {photo.size, image::Size{37, 29}}) {
        const std::size_t pixels = static_cast<std::size_t>(canvas.width) * canvas.height;
        if (pixels > 1u << 16) continue;
        const auto mask = std::make_unique<bool[]>(pixels);
        for (const datasets::CocoInstance& instance : photo.instances) {
          if (instance.category >= read.categories.size()) __builtin_trap();
          datasets::draw(instance.region, photo.size, {{mask.get(), pixels}, canvas});
        }
      }
    }
  });
  return 0;
}
