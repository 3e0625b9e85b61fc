#include "app/cpu_info.h"

#include <array>
#include <fstream>
#include <set>
#include <sstream>

namespace vitascope::app {
namespace {

// As the kernel spells them.
constexpr std::array kInstructionSets{
    "sse4_2",   "avx",      "avx2",        "fma",         "f16c",        "avx_vnni", "avx512f",
    "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16",
    "amx_int8", "asimd",    "asimdhp",     "asimddp",     "bf16",        "i8mm",     "sve"};

// The value of the first line "key<spaces>: value", or "".
std::string value_of(std::string_view text, std::string_view key) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    if (line.find_first_not_of(" \t", key.size()) != colon) continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

}  // namespace

CpuInfo parse_cpu_info(std::string_view text) {
  CpuInfo info{.name = value_of(text, "model name"), .instruction_sets = {}};
  if (info.name.empty()) info.name = "unknown";
  std::istringstream words(value_of(text, "flags") + " " + value_of(text, "Features"));
  std::set<std::string> flags;
  for (std::string word; words >> word;) flags.insert(word);
  for (const char* name : kInstructionSets) {
    if (flags.contains(name)) info.instruction_sets.emplace_back(name);
  }
  return info;
}

CpuInfo cpu_info() {
  std::ifstream file("/proc/cpuinfo");
  std::ostringstream text;
  text << file.rdbuf();
  return parse_cpu_info(text.str());
}

}  // namespace vitascope::app
