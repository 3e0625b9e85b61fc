#include "kernels/cpu/isa.h"

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace vitascope::kernels::cpu {
namespace {

/// An instruction set and what LibTorch's parts call it.
struct Names {
  Isa isa;
  const char* name;
  const char* aten;
  const char* onednn;
  const char* mkl;
};
constexpr std::array kNames{Names{Isa::baseline, "baseline", "default", "SSE41", "SSE4_2"},
                            Names{Isa::avx2, "avx2", "avx2", "AVX2", "AVX2"},
                            Names{Isa::avx512, "avx512", "avx512", "AVX512_CORE", "AVX512"},
                            Names{Isa::avx512_bf16, "avx512_bf16", "avx512", "DEFAULT", "AVX512"}};

const char* wish() {
  const char* value = std::getenv("VITASCOPE_CPU_ISA");
  return value == nullptr || *value == '\0' ? nullptr : value;
}

const Names& limit() {
  const char* value = wish();
  if (value == nullptr) return kNames.back();
  for (const Names& names : kNames) {
    if (std::string_view(value) == names.name) return names;
  }
  throw std::invalid_argument("VITASCOPE_CPU_ISA is '" + std::string(value) +
                              "': expected baseline, avx2, avx512 or avx512_bf16");
}

std::vector<Isa> detected() {
  std::vector<Isa> available{Isa::baseline};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    available.push_back(Isa::avx2);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
      available.push_back(Isa::avx512);
      if (__builtin_cpu_supports("avx512bf16")) available.push_back(Isa::avx512_bf16);
    }
  }
#endif
  return available;
}

}  // namespace

const char* isa_name(Isa isa) { return kNames.at(static_cast<std::size_t>(isa)).name; }

const std::vector<Isa>& available_isas() {
  static const std::vector<Isa> available = detected();
  return available;
}

Isa chosen_isa() {
  const Isa highest = limit().isa;
  Isa chosen = Isa::baseline;
  for (const Isa isa : available_isas()) {
    if (isa <= highest) chosen = isa;
  }
  return chosen;
}

void limit_libraries() {
  if (wish() == nullptr) return;
  const Names& names = limit();
  constexpr int kKeepWhatIsSet = 0;
  setenv("ATEN_CPU_CAPABILITY", names.aten, kKeepWhatIsSet);
  setenv("ONEDNN_MAX_CPU_ISA", names.onednn, kKeepWhatIsSet);
  setenv("MKL_ENABLE_INSTRUCTIONS", names.mkl, kKeepWhatIsSet);
}

}  // namespace vitascope::kernels::cpu
