#pragma once

#include <string_view>
#include <vector>

/// \file
/// Instruction sets that the CPU kernels are compiled for, and the one that is used.
namespace vitascope::kernels::cpu {

/// In rising order: each can do what those before it can.
enum class Isa { baseline, avx2, avx512, avx512_bf16 };

/// "baseline", "avx2", "avx512", "avx512_bf16": also the values of VITASCOPE_CPU_ISA.
const char* isa_name(Isa isa);

/// What this processor, its operating system and this build can do; baseline is always there.
const std::vector<Isa>& available_isas();

/// The best available one, not above what VITASCOPE_CPU_ISA names.
/// \throws std::invalid_argument when the variable names no instruction set
Isa chosen_isa();

/// Holds LibTorch's parts (ATen, oneDNN, MKL) to the same limit. They read their own variables at
/// first use, so this must come before any tensor does; it does nothing without VITASCOPE_CPU_ISA.
/// \throws std::invalid_argument when the variable names no instruction set
void limit_libraries();

}  // namespace vitascope::kernels::cpu
