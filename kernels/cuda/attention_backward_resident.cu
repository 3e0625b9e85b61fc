// The backward pass in one go by tensor cores, where a block has room for all keys of a (batch,
// head), at once or in two parts: scores are made once, and no sum crosses blocks.
//
// A warp has 16 or 32 keys and sums their dk and dv in registers over all queries. Tiles of 32
// queries take turns in two places of shared memory. For each tile, warps make P^T and dS^T of
// their keys, add to dv and dk, and leave dS^T in shared memory; behind a barrier they divide the
// tile's dq = dS k among them, with all keys summed in order. dS^T has two places as well: who is
// done with dq goes on to the next tile. Where keys come in two parts, what the first gives to dq
// waits in shared memory for the second.
#include "kernels/cuda/backward.cuh"
#include "kernels/cuda/backward_products.cuh"
#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/tile.cuh"

namespace vitascope::kernels::cuda {
namespace {

constexpr int kTile = 32;  // queries

/// Shared memory of a block, in elements of 16 bits:
/// keys | values, where they stay | dS^T [2][rows][32] | [2][q, dout][32 rows], then in float32
/// lse | delta | sums for dq, where keys come in parts.
/// Values on their way into registers lie over dS^T and the first of the two tiles.
struct Places {
  int gradients, one_gradient, tiles, one_tile, numbers, queries, bytes;
};
template <int kWidth, bool kHeld>
VITASCOPE_HOST_DEVICE Places places_for(int rows, int queries, bool parts) {
  const int side = rows * kRowStride<kWidth>;  // keys or values of a part
  Places places{};
  places.one_gradient = rows * kRowStride<kTile>;
  places.one_tile = 2 * kTile * kRowStride<kWidth>;
  places.gradients = kHeld ? side : 2 * side;
  places.tiles = places.gradients + 2 * places.one_gradient;
  places.numbers = places.tiles + 2 * places.one_tile;
  places.queries = (queries + kTile - 1) / kTile * kTile;
  places.bytes = 2 * places.numbers + 4 * places.queries * (parts ? 2 + kWidth : 2);
  return places;
}

/// 8 elements side by side.
template <class T>
__device__ __forceinline__ Packet read_packet(const T* from, bool packets) {
  if (packets) return load_packet(from);
  Packet packet;
  for (int i = 0; i < 4; ++i) {
    packet.words[i] = from[2 * i].bits | static_cast<std::uint32_t>(from[2 * i + 1].bits) << 16;
  }
  return packet;
}

/// lse and delta = rowsum(dout * out) of all queries; 8 lanes share a row.
template <class T>
__device__ __forceinline__ void find_numbers(const BackwardTask& task, const Place& place,
                                             bool packets, float* lse, float* delta, int end) {
  const Rows<T> outs = rows_at<T>(task, place, task.out, task.out_strides, packets);
  const Rows<T> douts = rows_at<T>(task, place, task.dout, task.dout_strides, packets);
  const int thread = static_cast<int>(threadIdx.x);
  for (int row = thread / 8; row < end; row += static_cast<int>(blockDim.x) / 8) {
    float sum = 0;
    for (int d = thread % 8 * 8; row < task.queries && d < outs.width; d += 64) {
      const Packet out = read_packet(outs.first + row * outs.stride + d, packets);
      const Packet dout = read_packet(douts.first + row * douts.stride + d, packets);
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        sum += element_of<T>(out.words[e / 2], e % 2) * element_of<T>(dout.words[e / 2], e % 2);
      }
    }
    for (int lanes = 1; lanes < 8; lanes *= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
    if (thread % 8 != 0) continue;
    lse[row] = safe_lse(task, place, row);
    delta[row] = sum;
  }
}

/// Leaves dS^T of 16 keys and 16 queries in its tile. Keys from `end` on, which are not there,
/// count 0: where every score is far below 0, theirs would not.
template <class T>
__device__ __forceinline__ void store_gradients(T* tile, const std::uint32_t (&gradients)[4],
                                                int key, int query, int end) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = key + lane / 4 + i % 2 * 8, column = query + i / 2 * 8 + lane % 4 * 2;
    *reinterpret_cast<std::uint32_t*>(tile + row * kRowStride<kTile> + column) =
        row < end ? gradients[i] : 0;
  }
}

/// The place of a warp in the order in which work for few of them, or for some more than there are,
/// is given out. The quarters of a multiprocessor take a block's warps in turn, so that the last
/// may have one less than others: its warps come first.
__device__ __forceinline__ int turn_of_warp() {
  const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
  const int quarter = warp % 4, longer = warps % 4 - quarter - 1;  // of the quarters behind
  return (3 - quarter) * (warps / 4) + (longer > 0 ? longer : 0) + warp / 4;
}

/// Writes dq of the tile of queries from `first` on, or adds a part of the keys to its sums. A warp
/// has pieces of 16 x 16, the same for every part.
/// \param gradients dS^T [keys][kTile]
/// \param keys      in key_tile, a multiple of 16
/// \param waiting   sums of all queries that wait for the next part, each lane's own
/// \param is_first, is_last which part of the keys this is
template <int kWidth, class T>
__device__ __forceinline__ void add_to_queries(const BackwardTask& task, const Place& place,
                                               int first, const T* key_tile, const T* gradients,
                                               int keys, float* waiting, bool is_first,
                                               bool is_last, bool pairs) {
  constexpr int kColumns = kWidth / 16;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int piece = turn_of_warp(); piece < kTile / 16 * kColumns;
       piece += static_cast<int>(blockDim.x) / 32) {
    const int column = piece % kColumns * 16;
    const int query = first + piece / kColumns * 16;
    if (query >= task.queries) break;
    float* wait = waiting + (query / 16 * kColumns + piece % kColumns) * 256 + lane;
    float sums[2][4];
#pragma unroll
    for (int i = 0; i < 8; ++i) sums[i / 4][i % 4] = is_first ? 0 : wait[32 * i];
#pragma unroll 2
    for (int key = 0; key < keys; key += 16) {
      std::uint32_t a[4], b[4];
      load_a_trans<kTile>(a, gradients, key, piece / kColumns * 16);
      load_b_trans<kWidth>(b, key_tile, key, column);
      mma_16x8x16<T>(sums[0], a, b[0], b[1]);
      mma_16x8x16<T>(sums[1], a, b[2], b[3]);
    }
    if (!is_last) {
#pragma unroll
      for (int i = 0; i < 8; ++i) wait[32 * i] = sums[i / 4][i % 4];
      continue;
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = query + lane / 4 + 8 * r;
      if (row >= task.queries) continue;
      T* dq = static_cast<T*>(task.dq) + task.dq_strides.offset(place.batch, place.head, row);
      store_row(dq + column, sums, r, task.scale, static_cast<int>(task.width) - column, pairs);
    }
  }
}

/// q, out, dout [B, H, Nq, D], k, v [B, H, Nk, D], lse [B, H, Nq] -> dq, dk, dv.
/// \tparam kGroups of 16 keys, of a warp
/// \tparam kWarps  that a block may have
/// \tparam kHeld   whether values stay in registers, else in shared memory
/// \tparam kParts  that keys may come in, each of 16 kGroups keys a warp
template <class T, int kWidth, int kGroups, int kWarps, bool kHeld, int kParts>
__global__ void __launch_bounds__(32 * kWarps)
    attention_backward_resident(const __grid_constant__ BackwardTask task, const Layout layout) {
  constexpr int kRows = 16 * kGroups * kWarps;  // most keys of a part
  static_assert(!kHeld || kRows * kRowStride<kWidth> <=
                              2 * kRows * kRowStride<kTile> + 2 * kTile * kRowStride<kWidth>,
                "values on their way need the places of dS^T and one tile");
  const int threads = static_cast<int>(blockDim.x), rows = threads / 2 * kGroups;
  const int all_keys = static_cast<int>(task.keys);
  const int all_queries = static_cast<int>(task.queries);
  const Places places = places_for<kWidth, kHeld>(rows, all_queries, all_keys > rows);
  T* const shared = reinterpret_cast<T*>(shared_memory());
  T* const values = shared + rows * kRowStride<kWidth>;
  float* const lse = reinterpret_cast<float*>(shared + places.numbers);
  float* const delta = lse + places.queries;
  Place place{blockIdx.x / task.heads, blockIdx.x % task.heads, 0};
  const Rows<T> queries = rows_at<T>(task, place, task.q, task.q_strides, layout.packets);
  const Rows<T> douts = rows_at<T>(task, place, task.dout, task.dout_strides, layout.packets);
  const auto load = [&](int query, int turn) {
    T* tile = shared + places.tiles + turn * places.one_tile;
    load_rows<kWidth>(tile, queries, query, task.queries, kTile, threads);
    load_rows<kWidth>(tile + places.one_tile / 2, douts, query, task.queries, kTile, threads);
    copy_async_commit();
  };
  const auto load_keys = [&](T* tile, const void* first, const Strides& strides, int key) {
    load_rows<kWidth>(tile, rows_at<T>(task, place, first, strides, layout.packets), key, task.keys,
                      rows, threads);
  };

#pragma unroll 1
  for (int part = 0; part < (kParts == 1 ? 1 : all_keys); part += rows) {
    if (part > 0) __syncthreads();  // nobody reads the part before any more
    load_keys(shared, task.k, task.k_strides, part);
    load_keys(values, task.v, task.v_strides, part);
    load(0, 1);
    if (part == 0) find_numbers<T>(task, place, layout.packets, lse, delta, places.queries);
    copy_async_wait<0>();
    __syncthreads();
    const Kept<kWidth, T, false, kGroups> key(shared);
    const Kept<kWidth, T, kHeld, kGroups> value(values);
    if (kHeld) __syncthreads();  // values are in registers: their place is free
    load(kTile, 0);

    const int first_key = static_cast<int>(threadIdx.x) / 32 * 16 * kGroups;
    const int keys = all_keys - part < rows ? all_keys - part : rows;
    const bool idle = kParts > 1 && first_key >= keys;  // a warp behind the last key
    KeySums<kWidth, kGroups> sums;
    int turn = 1;
    for (int query = 0; query < all_queries; query += kTile, turn ^= 1) {
      const T* tile = shared + places.tiles + turn * places.one_tile;
      T* gradients = shared + places.gradients + turn * places.one_gradient;
#pragma unroll 1
      for (int i = 0; i < kTile; i += 16) {
        if (idle || query + i >= all_queries) continue;
        add_to_keys<false>(
            task, place, key, value, tile, tile + places.one_tile / 2, i, sums, nullptr,
            [&](int n, int c) { return lse[query + i + column_of_element(n, c)]; },
            [&](int n, int c) { return delta[query + i + column_of_element(n, c)]; },
            [&](int g, const std::uint32_t(&changes)[4]) {
              store_gradients(gradients, changes, first_key + 16 * g, i, keys);
            });
      }
      copy_async_wait<0>();
      __syncthreads();  // dS^T is whole, the next tile has come, and nobody reads this one any more
      load(query + 2 * kTile, turn);
      add_to_queries<kWidth>(task, place, query, shared, gradients, (keys + 15) / 16 * 16,
                             delta + places.queries, kParts == 1 || part == 0,
                             kParts == 1 || part + rows >= all_keys, layout.pairs);
    }
    copy_async_wait<0>();
    place.row = part + first_key;
    store_key_sums<T>(task, place, sums, layout.pairs);
  }
}

/// Chooses the kernel if its warps have room for the keys and the chip has for all the rest.
template <class T, int kWidth, int kGroups, int kWarps, bool kHeld, int kParts>
bool choose_if_it_fits(const BackwardProblem& problem, const Chip& chip, Plan<BackwardTask>& plan) {
  constexpr std::int64_t kMostQueries = 1 << 16;  // so that bytes fit into int
  constexpr int kKeys = 16 * kGroups;             // of a warp
  const std::int64_t parts = (problem.keys + kKeys * kWarps - 1) / (kKeys * kWarps);
  if (parts < 1 || parts > kParts || problem.queries > kMostQueries) return false;
  const std::int64_t warps = (problem.keys + kKeys * parts - 1) / (kKeys * parts);
  const Places places = places_for<kWidth, kHeld>(static_cast<int>(warps) * kKeys,
                                                  static_cast<int>(problem.queries), parts > 1);
  if (places.bytes > chip.shared_bytes) return false;
  plan.function = attention_backward_resident<T, kWidth, kGroups, kWarps, kHeld, kParts>;
  plan.threads = static_cast<unsigned>(32 * warps);
  plan.shared_bytes = places.bytes;
  plan.kernel = parts == 1 ? "tensor cores, one pass" : "tensor cores, one pass, keys in two parts";
  return true;
}

/// What registers allow: a multiprocessor has 65536, given out to warps in fours, and none is to
/// spill (tests/simt/registers_test.py). Wider heads leave room for fewer keys.
template <class T, int kWidth>
void choose(const BackwardProblem& problem, const Chip& chip, Plan<BackwardTask>& plan) {
  if constexpr (kWidth <= 32) {
    choose_if_it_fits<T, kWidth, 2, 8, true, 2>(problem, chip, plan);
  } else if constexpr (kWidth == 64) {
    choose_if_it_fits<T, kWidth, 2, 8, true, 1>(problem, chip, plan) ||
        choose_if_it_fits<T, kWidth, 1, 12, true, 2>(problem, chip, plan);
  } else if constexpr (kWidth == 80) {
    choose_if_it_fits<T, kWidth, 2, 8, false, 1>(problem, chip, plan) ||
        choose_if_it_fits<T, kWidth, 1, 12, true, 2>(problem, chip, plan);
  } else if constexpr (kWidth == 96) {
    choose_if_it_fits<T, kWidth, 1, 12, false, 2>(problem, chip, plan);
  } else {
    choose_if_it_fits<T, kWidth, 1, 8, true, 2>(problem, chip, plan);
  }
}

}  // namespace

Plan<BackwardTask> plan_resident_backward(const BackwardProblem& problem, const Chip& chip) {
  Plan<BackwardTask> plan;
  const bool refused = common_limits(problem, 1, 1) != nullptr;
  if (refused || problem.width % 8 != 0 || !is_plain(problem)) return plan;
  with_width(problem.width, [&](auto width) {
    constexpr int kWidth = decltype(width)::value;
    if (problem.element == Element::bf16) choose<BFloat16, kWidth>(problem, chip, plan);
    if (problem.element == Element::f16) choose<Float16, kWidth>(problem, chip, plan);
  });
  plan.blocks = problem.batch * problem.heads;
  plan.layout = layout_of(problem);
  return plan;
}

}  // namespace vitascope::kernels::cuda
