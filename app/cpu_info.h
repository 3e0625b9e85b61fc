#pragma once

#include <string>
#include <string_view>
#include <vector>

/// \file
/// What the processor is and can do.
namespace vitascope::app {

/// A processor, as the kernel describes it.
struct CpuInfo {
  std::string name;                           ///< "AMD EPYC 9R14", or "unknown"
  std::vector<std::string> instruction_sets;  ///< of those that matter here, in order: avx2, fma,
                                              ///< avx512f, avx512_bf16, avx512_vnni, amx_bf16, ...
};

/// Reads the text of /proc/cpuinfo (x86-64: "model name" and "flags"; aarch64: "Features").
CpuInfo parse_cpu_info(std::string_view text);

/// Of this machine.
CpuInfo cpu_info();

}  // namespace vitascope::app
