#include "datasets/sampling_order.h"

#include <algorithm>
#include <numeric>

#include "vit/image/random_stream.h"

namespace vitascope::datasets {

std::vector<std::size_t> epoch_order(std::size_t count, std::uint64_t seed, std::uint64_t epoch) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  // No sample has this number, so that the order has a stream of its own.
  image::RandomStream random = image::RandomStream::of(seed, epoch, ~std::uint64_t{0});
  random.shuffle(order);
  return order;
}

std::vector<Span> shares(std::size_t count, std::size_t position, std::size_t batch_size,
                         Shard shard) {
  std::vector<Span> result;
  result.reserve(position < count ? (count - position + batch_size - 1) / batch_size : 0);
  for (std::size_t begin = position; begin < count; begin += batch_size) {
    const std::size_t size = std::min(batch_size, count - begin);
    result.push_back({begin + size * shard.rank / shard.processes,
                      begin + size * (shard.rank + 1) / shard.processes});
  }
  return result;
}

}  // namespace vitascope::datasets
