#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <stdexcept>
#include <string>

/// \file
/// Runs CUDA kernels on the CPU to find out whether they are right: one fibre a thread, blocks one
/// after the other. Compile the .cu file as C++ with `-include tests/simt/device.h`.
///
/// What it is strict about:
/// - fibres of a block run in an order that the seed decides, so that a missing barrier shows;
/// - shared memory has the size that was asked for, begins as NaN and lies between red zones;
/// - global memory of the tests (GlobalBuffer) lies between a red zone and the end of all memory;
/// - threads that part at a barrier or at a warp-wide instruction are reported with file and line.
namespace simt {

using Where = std::source_location;

/// What a kernel did wrong, with file and line where they are known.
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  Fault(const std::string& what, const Where& where);
};

/// As CUDA's dim3.
struct Dimensions {
  unsigned x = 1, y = 1, z = 1;
};

/// \name Where the running thread stands
/// @{
const Dimensions& thread_index();
const Dimensions& block_index();
const Dimensions& block_size();
const Dimensions& grid_size();
/// Dynamic shared memory of the running block, aligned to 1024 bytes.
unsigned char* shared_memory();
/// @}

/// Seed of the order of fibres in the launches that follow.
void set_seed(std::uint64_t seed);

/// Runs `kernel` once for each thread of the grid.
/// \param block threads, whole warps
/// \throws Fault the first thing that a thread did wrong
void launch(Dimensions grid, Dimensions block, std::size_t shared_bytes,
            const std::function<void()>& kernel);

/// Waits until `threads` threads of the block have come to barrier `id` (PTX bar.sync).
void block_barrier(unsigned id, unsigned threads, const Where& where);

/// What a warp-wide instruction does once all 32 lanes have come: lanes[i] is what lane i brought,
/// and takes its result.
using WarpInstruction = void (*)(void* const (&lanes)[32], const Where& where);

/// Brings the running thread's part; returns when the instruction has been carried out.
void warp_wide(WarpInstruction instruction, void* part, const Where& where);

/// Number of the running thread in its warp.
unsigned lane_index();

/// \name Copies that arrive when they are waited for (PTX cp.async)
/// @{
/// The 16 bytes at `to` are NaN until the running thread has waited for the copy's group.
/// \param zero bring zeros and do not touch `from`
void copy_async(void* to, const void* from, bool zero, const Where& where);
void commit_copies();
void wait_for_copies(std::size_t groups_left);
/// @}

/// \throws Fault unless [address, address + bytes) is aligned to `bytes` and inside
void check_shared(const void* address, std::size_t bytes, const Where& where);
void check_global(const void* address, std::size_t bytes, const Where& where);

}  // namespace simt
