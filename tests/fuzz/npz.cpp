#include "vit/weights/npz.h"

#include "tests/fuzz/touch.h"
#include "tests/vit/weights/zip_builder.h"

/// An input that is no zip archive is taken as an array and put into one, so that the fuzzer need
/// not learn checksums and offsets before it reaches the header of an array.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vitascope;
  std::string file(reinterpret_cast<const char*>(data), size);
  if (!file.starts_with("PK")) file = tests::zip_of({{"a.npy", file}});
  fuzz::refuse_or_accept(
      [&] { fuzz::touch(weights::parse_npz(std::as_bytes(std::span(file)), "input", nullptr)); });
  return 0;
}
