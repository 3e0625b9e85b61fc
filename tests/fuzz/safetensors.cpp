#include "vit/weights/safetensors.h"

#include "tests/fuzz/touch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vitascope;
  fuzz::refuse_or_accept([&] {
    fuzz::touch(weights::parse_safetensors(std::as_bytes(std::span(data, size)), "input", nullptr));
  });
  return 0;
}
