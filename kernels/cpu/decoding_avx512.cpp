// Compiled with the compiler flags of this instruction set (kernels/CMakeLists.txt).
#define VITASCOPE_ISA avx512
#include "kernels/cpu/decoding_table.h"
