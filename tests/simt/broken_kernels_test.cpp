// Small kernels that are right, and the same with one mistake: the emulator must see each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/cuda/ptx.cuh"
#include "tests/simt/emulator.h"
#include "tests/simt/global_memory.h"

// Not inside simt, whose functions of the same names take the place as well.
namespace simt_tests {
namespace {

using simt::Fault;
using simt::from_bf16;
using simt::from_f16;
using simt::GlobalBuffer;
using simt::launch;
using simt::set_seed;
using simt::to_bf16;
using simt::to_f16;
using testing::AllOf;
using testing::HasSubstr;
using namespace vitascope::kernels::cuda;

/// What is wrong with a copy of the kernel.
enum class Mistake { none, no_barrier, no_wait, no_commit, long_tail, short_tail, wrong_lane };

constexpr int kSide = 16, kStride = 24;  // elements from row to row in shared memory

/// c [rows, 16] = a [rows, 16] b^T, b [16, 16]: 64 threads, the first warp brings a, the second b.
template <Mistake kMistake>
void product(const BFloat16* a, const BFloat16* b, float* c, int rows) {
  auto* const shared = reinterpret_cast<BFloat16*>(shared_memory());
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int row = lane / 2, column = lane % 2 * 8;
  const int end = rows + (kMistake == Mistake::long_tail) - (kMistake == Mistake::short_tail);
  const BFloat16* from = warp == 0 ? a : b;
  BFloat16* to = shared + warp * kSide * kStride;
  const bool inside = warp == 1 || row < end;
  copy_async(to + row * kStride + column, from + (inside ? row * kSide + column : 0), !inside);
  if (kMistake != Mistake::no_commit) copy_async_commit();
  if (kMistake != Mistake::no_wait) copy_async_wait<0>();
  if (kMistake != Mistake::no_barrier) __syncthreads();

  std::uint32_t left[4], right[4];
  const int half = kMistake == Mistake::wrong_lane ? lane / 8 % 2 : lane / 16;
  ldmatrix_x4(left, shared + lane % 16 * kStride + half * 8);
  ldmatrix_x4(right, shared + (kSide + lane / 16 * 8 + lane % 8) * kStride + lane / 8 % 2 * 8);
  float sums[4] = {};
  mma_16x8x16<BFloat16>(sums, left, right[2 * warp], right[2 * warp + 1]);
  for (int i = 0; i < 4; ++i) {
    const int at = lane / 4 + i / 2 * 8;
    if (at < rows) c[at * kSide + warp * 8 + lane % 4 * 2 + i % 2] = sums[i];
  }
}

/// Whether the kernel's result is right under a seed.
template <Mistake kMistake>
bool product_is_right(std::uint64_t seed, int rows) {
  const GlobalBuffer a(rows * kSide * 2), b(kSide * kSide * 2), c(rows * kSide * 4);
  auto* const left = reinterpret_cast<BFloat16*>(a.data());
  auto* const right = reinterpret_cast<BFloat16*>(b.data());
  auto* const sums = reinterpret_cast<float*>(c.data());
  for (int i = 0; i < rows * kSide; ++i) left[i] = {to_bf16(static_cast<float>(i % 7 - 3))};
  for (int i = 0; i < kSide * kSide; ++i) right[i] = {to_bf16(static_cast<float>(i % 5 - 1))};
  set_seed(seed);
  launch({1}, {64}, 2 * kSide * kStride * sizeof(BFloat16),
         [&] { product<kMistake>(left, right, sums, rows); });
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < kSide; ++j) {
      float sum = 0;
      for (int k = 0; k < kSide; ++k) {
        sum += from_bf16(left[i * kSide + k].bits) * from_bf16(right[j * kSide + k].bits);
      }
      if (sums[i * kSide + j] != sum) return false;
    }
  }
  return true;
}

/// Whether a mistake is seen, by a fault or by a wrong result.
template <Mistake kMistake>
bool is_seen(std::uint64_t seed) {
  try {
    return !product_is_right<kMistake>(seed, 13);
  } catch (const Fault&) {
    return true;
  }
}

/// What is wrong with a copy of a kernel whose warps hand on to each other what they made.
enum class Handing { right, no_barrier, one_place };

constexpr int kWarps = 3, kTurns = 4;

/// sums [kTurns, 16, 16] = s^T b, s [kTurns, 16 kWarps, 16], b [16 kWarps, 16]: as attention's
/// backward pass does, each warp leaves 16 rows of a turn's s in shared memory and then makes a
/// part of the turn's sum from the rows of all. Who is done goes on to the next turn's other place.
template <Handing kHanding>
void hand_on(const BFloat16* s, const BFloat16* b, float* sums) {
  auto* const right = reinterpret_cast<BFloat16*>(shared_memory());
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row = 16 * warp + lane / 2, column = lane % 2 * 8, place = row * kStride + column;
  std::copy_n(b + row * kSide + column, 8, right + place);
  for (int turn = 0; turn < kTurns; ++turn) {
    auto* left = right + kSide * kWarps * kStride;
    if (kHanding != Handing::one_place) left += turn % 2 * kSide * kWarps * kStride;
    std::copy_n(s + (turn * kSide * kWarps + row) * kSide + column, 8, left + place);
    if (kHanding != Handing::no_barrier) __syncthreads();
    if (warp > 1) continue;  // two warps make 8 columns each
    float sum[4] = {};
    for (int step = 0; step < kWarps; ++step) {
      std::uint32_t a_matrices[4], b_matrices[4];
      const int first = 16 * step * kStride;
      ldmatrix_x4_trans(a_matrices,
                        left + first + (lane / 16 * 8 + lane % 8) * kStride + lane / 8 % 2 * 8);
      ldmatrix_x4_trans(b_matrices, right + first + lane % 16 * kStride + lane / 16 * 8);
      mma_16x8x16<BFloat16>(sum, a_matrices, b_matrices[2 * warp], b_matrices[2 * warp + 1]);
    }
    for (int i = 0; i < 4; ++i) {
      const int to = lane / 4 + i / 2 * 8;
      sums[(turn * kSide + to) * kSide + warp * 8 + lane % 4 * 2 + i % 2] = sum[i];
    }
  }
}

/// Whether the kernel's result is right under a seed.
template <Handing kHanding>
bool handing_on_is_right(std::uint64_t seed) {
  constexpr int kRows = kSide * kWarps;
  const GlobalBuffer s(kTurns * kRows * kSide * 2), b(kRows * kSide * 2);
  const GlobalBuffer c(kTurns * kSide * kSide * 4);
  auto* const left = reinterpret_cast<BFloat16*>(s.data());
  auto* const right = reinterpret_cast<BFloat16*>(b.data());
  auto* const sums = reinterpret_cast<float*>(c.data());
  for (int i = 0; i < kTurns * kRows * kSide; ++i) {
    left[i] = {to_bf16(static_cast<float>(i % 11 - 4))};
  }
  for (int i = 0; i < kRows * kSide; ++i) right[i] = {to_bf16(static_cast<float>(i % 5 - 1))};
  set_seed(seed);
  launch({1}, {32 * kWarps}, 3 * kRows * kStride * sizeof(BFloat16),
         [&] { hand_on<kHanding>(left, right, sums); });
  for (int i = 0; i < kTurns * kSide * kSide; ++i) {
    const BFloat16* rows = left + i / (kSide * kSide) * kRows * kSide + i / kSide % kSide;
    float sum = 0;
    for (int k = 0; k < kRows; ++k) {
      sum += from_bf16(rows[k * kSide].bits) * from_bf16(right[k * kSide + i % kSide].bits);
    }
    if (sums[i] != sum) return false;
  }
  return true;
}

TEST(BrokenKernel, WarpsThatHandOnNeedABarrierAndTwoPlaces) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_TRUE(handing_on_is_right<Handing::right>(seed)) << seed;
    EXPECT_FALSE(handing_on_is_right<Handing::no_barrier>(seed)) << seed;
    EXPECT_FALSE(handing_on_is_right<Handing::one_place>(seed)) << seed;
  }
}

TEST(BrokenKernel, TheRightOneIsRightInEveryOrder) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const int rows : {1, 13, 16}) {
      EXPECT_TRUE(product_is_right<Mistake::none>(seed, rows)) << seed << ", " << rows;
    }
  }
}

TEST(BrokenKernel, EveryMistakeIsSeenInEveryOrder) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_TRUE(is_seen<Mistake::no_barrier>(seed)) << seed;
    EXPECT_TRUE(is_seen<Mistake::no_wait>(seed)) << seed;
    EXPECT_TRUE(is_seen<Mistake::no_commit>(seed)) << seed;
    EXPECT_TRUE(is_seen<Mistake::long_tail>(seed)) << seed;
    EXPECT_TRUE(is_seen<Mistake::short_tail>(seed)) << seed;
    EXPECT_TRUE(is_seen<Mistake::wrong_lane>(seed)) << seed;
  }
}

/// What is wrong with a copy of the kernel whose values come after its keys.
enum class Haste { none, before_keys, before_values, before_values_of_others };

/// out [16, 16] = (k k^T) v, k and v [16, 16]: a warp brings half of the rows of both, as two
/// groups of copies, and begins with the first product while the second group is under way.
template <Haste kHaste>
void product_of_scores(const BFloat16* k, const BFloat16* v, float* out) {
  auto* const keys = reinterpret_cast<BFloat16*>(shared_memory());
  BFloat16* const values = keys + kSide * kStride;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int row = 8 * warp + lane % 16 / 2, column = lane % 2 * 8;
  if (lane < 16) copy_async(keys + row * kStride + column, k + row * kSide + column, false);
  copy_async_commit();
  if (lane >= 16) copy_async(values + row * kStride + column, v + row * kSide + column, false);
  copy_async_commit();
  copy_async_wait<kHaste == Haste::before_keys ? 2 : 1>();
  __syncthreads();

  std::uint32_t left[4], right[4];
  ldmatrix_x4(left, keys + lane % 16 * kStride + lane / 16 * 8);
  ldmatrix_x4(right, keys + (lane / 16 * 8 + lane % 8) * kStride + lane / 8 % 2 * 8);
  float scores[2][4] = {}, sums[4] = {};
  mma_16x8x16<BFloat16>(scores[0], left, right[0], right[1]);
  mma_16x8x16<BFloat16>(scores[1], left, right[2], right[3]);
  copy_async_wait<kHaste == Haste::before_values ? 1 : 0>();
  if (kHaste != Haste::before_values_of_others) __syncthreads();
  for (int i = 0; i < 4; ++i) {
    left[i] = pack<BFloat16>(scores[i / 2][i % 2 * 2], scores[i / 2][i % 2 * 2 + 1]);
  }
  ldmatrix_x4_trans(right, values + lane % 16 * kStride + lane / 16 * 8);
  mma_16x8x16<BFloat16>(sums, left, right[2 * warp], right[2 * warp + 1]);
  for (int i = 0; i < 4; ++i) {
    out[(lane / 4 + i / 2 * 8) * kSide + warp * 8 + lane % 4 * 2 + i % 2] = sums[i];
  }
  copy_async_wait<0>();
}

/// Whether the kernel's result is right under a seed. Its numbers are whole and small, so that
/// bfloat16 holds the scores.
template <Haste kHaste>
bool product_of_scores_is_right(std::uint64_t seed) {
  const GlobalBuffer k(kSide * kSide * 2), v(kSide * kSide * 2), out(kSide * kSide * 4);
  auto* const keys = reinterpret_cast<BFloat16*>(k.data());
  auto* const values = reinterpret_cast<BFloat16*>(v.data());
  auto* const sums = reinterpret_cast<float*>(out.data());
  for (int i = 0; i < kSide * kSide; ++i) {
    keys[i] = {to_bf16(static_cast<float>(i * i % 7 % 3 - 1))};
    values[i] = {to_bf16(static_cast<float>(i % 5 - 1))};
  }
  set_seed(seed);
  launch({1}, {64}, 2 * kSide * kStride * sizeof(BFloat16),
         [&] { product_of_scores<kHaste>(keys, values, sums); });
  const auto at = [](const BFloat16* matrix, int row, int column) {
    return from_bf16(matrix[row * kSide + column].bits);
  };
  for (int i = 0; i < kSide * kSide; ++i) {
    float sum = 0;
    for (int j = 0; j < kSide; ++j) {
      for (int d = 0; d < kSide; ++d) {
        sum += at(keys, i / kSide, d) * at(keys, j, d) * at(values, j, i % kSide);
      }
    }
    if (sums[i] != sum) return false;
  }
  return true;
}

TEST(BrokenKernel, WhoTakesWhatHasNotComeIsSeenInEveryOrder) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_TRUE(product_of_scores_is_right<Haste::none>(seed)) << seed;
    EXPECT_FALSE(product_of_scores_is_right<Haste::before_keys>(seed)) << seed;
    EXPECT_FALSE(product_of_scores_is_right<Haste::before_values>(seed)) << seed;
    EXPECT_FALSE(product_of_scores_is_right<Haste::before_values_of_others>(seed)) << seed;
  }
}

/// What the emulator says of a kernel of 64 threads with 256 bytes of shared memory.
std::string fault_of(const std::function<void()>& kernel) {
  try {
    launch({1}, {64}, 256, kernel);
  } catch (const Fault& fault) {
    return fault.what();
  }
  return "no fault";
}

TEST(Emulator, NamesFilesAndLinesWhereThreadsPart) {
  EXPECT_THAT(fault_of([] {
                if (threadIdx.x < 40) __syncthreads();
              }),
              AllOf(HasSubstr("40 wait at broken_kernels_test.cpp:"), HasSubstr("24 have ended")));
  const std::string fault = fault_of([] {
    if (threadIdx.x < 32) {
      __syncthreads();
    } else {
      __syncthreads();
    }
  });
  EXPECT_THAT(fault, HasSubstr("a barrier at which other threads of the block came by "
                               "broken_kernels_test.cpp:"));
  const std::string parted_lanes = fault_of([] {
    if (threadIdx.x % 2 == 0) {
      __shfl_sync(~0u, 1.0f, 0);
    } else {
      __shfl_sync(~0u, 1.0f, 0);
    }
  });
  EXPECT_THAT(parted_lanes, HasSubstr("a warp-wide instruction while other lanes are at "));
  EXPECT_THAT(fault_of([] { __shfl_sync(1u, 1.0f, 0); }), HasSubstr("a part of the warp"));
}

TEST(Emulator, ChecksAlignmentAndBounds) {
  const GlobalBuffer buffer(64);
  EXPECT_EQ(fault_of([&] {
              copy_async(shared_memory() + threadIdx.x % 16 * 16, buffer.data(), false);
              copy_async_commit();
              copy_async_wait<0>();
            }),
            "no fault");
  EXPECT_THAT(fault_of([&] { copy_async(shared_memory() + 8, buffer.data(), false); }),
              HasSubstr("shared memory not aligned to 16"));
  EXPECT_THAT(fault_of([&] { copy_async(shared_memory() + 256, buffer.data(), false); }),
              HasSubstr("outside the 256 bytes of shared memory (offset 256)"));
  EXPECT_THAT(fault_of([&] { copy_async(shared_memory(), buffer.data() + 56, false); }),
              HasSubstr("global memory not aligned to 16"));
  EXPECT_THAT(fault_of([&] { copy_async(shared_memory(), buffer.data() + 64, false); }),
              HasSubstr("outside every buffer of global memory"));
  EXPECT_THAT(fault_of([&] { store_word(buffer.data() + 62, 0); }), HasSubstr("aligned to 4"));
  EXPECT_THAT(fault_of([&] {
                std::uint32_t matrices[4];
                ldmatrix_x4(matrices, shared_memory() + threadIdx.x * 8);
              }),
              HasSubstr("not aligned to 16"));
  EXPECT_THAT(fault_of([&] { copy_async(shared_memory(), buffer.data(), false); }),
              HasSubstr("ended before its asynchronous copies were waited for"));
}

TEST(Emulator, SeesWhatIsWrittenOutside) {
  EXPECT_THAT(fault_of([] { shared_memory()[256 + threadIdx.x] = 1; }),
              HasSubstr("written outside the 256 bytes of shared memory"));
  EXPECT_THAT(fault_of([] { *(shared_memory() - 1 - threadIdx.x) = 1; }),
              HasSubstr("written outside the 256 bytes of shared memory"));
  const GlobalBuffer buffer(64);
  EXPECT_THAT(fault_of([&] { *(buffer.data() - threadIdx.x - 1) = 1; }),
              HasSubstr("written outside a buffer of global memory"));
}

TEST(EmulatorDeathTest, NothingFollowsGlobalMemory) {
  const GlobalBuffer buffer(64);
  volatile unsigned char* end = buffer.data() + 64;
  EXPECT_DEATH(fault_of([&] { static_cast<void>(*end); }), "");
  EXPECT_DEATH(fault_of([&] { *end = 1; }), "");
}

TEST(Emulator, SharedMemoryBeginsAsNaN) {
  int numbers = 0;
  launch({2}, {32}, 64, [&] {
    const float value = reinterpret_cast<float*>(shared_memory())[threadIdx.x % 16];
    atomicAdd(reinterpret_cast<float*>(shared_memory()), 0.0f);
    if (value == value) ++numbers;
  });
  EXPECT_EQ(numbers, 0);
}

TEST(Emulator, ShufflesAsCudaDoes) {
  launch({1}, {32}, 0, [] {
    const int lane = static_cast<int>(threadIdx.x);
    EXPECT_EQ(__shfl_sync(~0u, lane, 5), 5);
    EXPECT_EQ(__shfl_sync(~0u, lane, lane + 1), (lane + 1) % 32);
    EXPECT_EQ(__shfl_sync(~0u, lane, 1, 8), lane / 8 * 8 + 1);
    EXPECT_EQ(__shfl_xor_sync(~0u, lane, 2), lane ^ 2);
    EXPECT_EQ(__shfl_up_sync(~0u, lane, 3), lane < 3 ? lane : lane - 3);
    EXPECT_EQ(__shfl_down_sync(~0u, lane, 3, 16), lane % 16 > 12 ? lane : lane + 3);
    EXPECT_TRUE(__any_sync(~0u, lane == 7));
    EXPECT_FALSE(__any_sync(~0u, lane == 77));
  });
}

// A named barrier lets one half of the block go on without the other.
TEST(Emulator, NamedBarriersHoldOnlyTheirThreads) {
  const GlobalBuffer buffer(2 * sizeof(int));
  auto* const arrived = reinterpret_cast<int*>(buffer.data());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    arrived[0] = arrived[1] = 0;
    set_seed(seed);
    launch({1}, {128}, 0, [&] {
      const unsigned half = threadIdx.x / 64;
      atomicAdd(&arrived[half], 1);
      named_barrier(1 + half, 64);
      EXPECT_EQ(arrived[half], 64);
    });
  }
}

TEST(Emulator, ConvertsToNearestEven) {
  EXPECT_EQ(from_f16(to_f16(65504.0f)), 65504.0f);
  EXPECT_EQ(from_f16(to_f16(65520.0f)), INFINITY);
  EXPECT_EQ(from_f16(to_f16(0x1p-24f)), 0x1p-24f);
  EXPECT_EQ(from_f16(to_f16(0x1p-25f)), 0.0f);
  EXPECT_EQ(from_f16(to_f16(2049.0f)), 2048.0f);
  EXPECT_EQ(from_f16(to_f16(2051.0f)), 2052.0f);
  EXPECT_EQ(from_f16(to_f16(-INFINITY)), -INFINITY);
  EXPECT_TRUE(std::isnan(from_f16(to_f16(NAN))));
  EXPECT_EQ(from_bf16(to_bf16(257.0f)), 256.0f);
  EXPECT_EQ(from_bf16(to_bf16(259.0f)), 260.0f);
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(NAN))));
  for (unsigned bits = 0; bits < 0x7C00; ++bits) {
    EXPECT_EQ(to_f16(from_f16(static_cast<std::uint16_t>(bits))), bits);
  }
}

}  // namespace
}  // namespace simt_tests
