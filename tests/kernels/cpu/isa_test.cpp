#include "kernels/cpu/isa.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace vitascope::kernels::cpu {
namespace {

class IsaTest : public testing::Test {
 protected:
  void TearDown() override { unsetenv("VITASCOPE_CPU_ISA"); }
};

TEST_F(IsaTest, BaselineIsAlwaysThereAndTheOrderRises) {
  const auto available = available_isas();
  EXPECT_EQ(available.front(), Isa::baseline);
  EXPECT_TRUE(std::ranges::is_sorted(available));
  EXPECT_EQ(chosen_isa(), available.back());
}

TEST_F(IsaTest, TheVariableIsALimit) {
  for (const Isa isa : available_isas()) {
    setenv("VITASCOPE_CPU_ISA", isa_name(isa), 1);
    EXPECT_EQ(chosen_isa(), isa);
  }
  setenv("VITASCOPE_CPU_ISA", "avx512_bf16", 1);
  EXPECT_EQ(chosen_isa(), available_isas().back()) << "a limit above the machine changes nothing";
}

TEST_F(IsaTest, AnUnknownNameIsRefused) {
  setenv("VITASCOPE_CPU_ISA", "sse9", 1);
  EXPECT_THROW(chosen_isa(), std::invalid_argument);
  EXPECT_THROW(limit_libraries(), std::invalid_argument);
}

TEST_F(IsaTest, LibrariesAreLimitedOnlyWhenAsked) {
  unsetenv("ATEN_CPU_CAPABILITY");
  limit_libraries();
  EXPECT_EQ(std::getenv("ATEN_CPU_CAPABILITY"), nullptr);
  setenv("VITASCOPE_CPU_ISA", "avx2", 1);
  limit_libraries();
  EXPECT_STREQ(std::getenv("ATEN_CPU_CAPABILITY"), "avx2");
  EXPECT_STREQ(std::getenv("ONEDNN_MAX_CPU_ISA"), "AVX2");
  unsetenv("ATEN_CPU_CAPABILITY");
  unsetenv("ONEDNN_MAX_CPU_ISA");
  unsetenv("MKL_ENABLE_INSTRUCTIONS");
}

}  // namespace
}  // namespace vitascope::kernels::cpu
