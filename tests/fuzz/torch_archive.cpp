#include "vit/weights/torch_archive.h"

#include "tests/fuzz/touch.h"
#include "tests/vit/weights/zip_builder.h"

/// An input that is no zip archive is taken as the pickle of one with a storage of 64 bytes, so
/// that the fuzzer need not learn offsets before it reaches the unpickler.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vitascope;
  std::string file(reinterpret_cast<const char*>(data), size);
  if (file.starts_with("\x80") && !file.starts_with("\x80\x02\x8a\x0al\xfc")) {
    file = tests::zip_of({{"m/data.pkl", file}, {"m/data/0", std::string(64, 'x')}});
  }
  fuzz::refuse_or_accept([&] {
    fuzz::touch(weights::parse_torch_archive(std::as_bytes(std::span(file)), "input", nullptr));
  });
  return 0;
}
