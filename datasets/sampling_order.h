#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// \file
/// In what order pictures are seen, and by which process. Nothing but the arguments enters.
namespace vitascope::datasets {

/// 0 .. count - 1 in the random order of an epoch.
std::vector<std::size_t> epoch_order(std::size_t count, std::uint64_t seed, std::uint64_t epoch);

/// A picture's place in an epoch.
struct Draw {
  std::size_t index = 0;
  std::uint64_t turn = 0;  ///< how often the epoch showed it before
};

/// As many draws as there are pictures, in which every group comes equally often, but for one: of
/// large groups other pictures each epoch, those of small ones several times.
/// \param groups [count], 0 or more
std::vector<Draw> balanced_order(std::span<const std::size_t> groups, std::uint64_t seed,
                                 std::uint64_t epoch);

/// One process of several that share every batch.
struct Shard {
  std::size_t rank = 0, processes = 1;
};

/// Positions [begin, end) in an epoch's order.
struct Span {
  std::size_t begin = 0, end = 0;
};

/// What a process takes of each batch from `position` on. All processes together take `batch_size`
/// pictures at a time, and of the last batch what is left: every picture once, none twice, the same
/// ones in the same step however many processes share it. A share may be empty.
std::vector<Span> shares(std::size_t count, std::size_t position, std::size_t batch_size,
                         Shard shard);

/// Positions in a list whose photos are dealt to processes a batch at a time, the first batch to
/// the first process: every position once. Whole batches, because what a model says of a photo may
/// differ in the last digit with the photos beside it.
std::vector<std::size_t> dealt(std::size_t count, std::size_t batch_size, Shard shard);

}  // namespace vitascope::datasets
