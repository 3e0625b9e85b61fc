#include "datasets/table.h"
#include "tests/fuzz/touch.h"

/// The first byte chooses between CSV and JSON lines.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vitascope;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool csv = text.front() == 'c';
  fuzz::refuse_or_accept([&] {
    const datasets::Table table =
        datasets::parse_table(text.substr(1), csv ? "input.csv" : "input.jsonl");
    for (const datasets::Record& record : table.records) {
      if (!record.values.is_object()) __builtin_trap();
      if (csv && record.values.size() != table.columns.size()) __builtin_trap();
    }
  });
  return 0;
}
