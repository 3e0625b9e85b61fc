#include "app/cpu_info.h"

#include <gmock/gmock.h>

namespace vitascope::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

TEST(CpuInfo, ReadsTheFirstProcessorOfX86) {
  const CpuInfo info = parse_cpu_info(
      "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 143\n"
      "model name\t: Intel(R) Xeon(R) Platinum 8481C\n"
      "flags\t\t: fpu sse4_2 fma avx avx2 avx512f avx512_vnni avx512_bf16 amx_bf16 amx_tile\n"
      "vmx flags\t: vnmi avx512vl\n\n"
      "processor\t: 1\nmodel name\t: another\nflags\t\t: i8mm\n");
  EXPECT_EQ(info.name, "Intel(R) Xeon(R) Platinum 8481C");
  EXPECT_THAT(info.instruction_sets,
              ElementsAre("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16",
                          "amx_tile", "amx_bf16"));
}

TEST(CpuInfo, ReadsAarch64) {
  const CpuInfo info = parse_cpu_info(
      "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd asimddp sve i8mm bf16\n");
  EXPECT_EQ(info.name, "unknown");
  EXPECT_THAT(info.instruction_sets, ElementsAre("asimd", "asimddp", "bf16", "i8mm", "sve"));
}

TEST(CpuInfo, SaysUnknownWhenThereIsNothing) {
  EXPECT_EQ(parse_cpu_info("").name, "unknown");
  EXPECT_THAT(parse_cpu_info("flags\t:\n").instruction_sets, IsEmpty());
}

TEST(CpuInfo, KnowsThisMachine) { EXPECT_THAT(cpu_info().instruction_sets, Not(IsEmpty())); }

}  // namespace
}  // namespace vitascope::app
