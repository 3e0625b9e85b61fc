#include "datasets/sampling_order.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

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

std::vector<Draw> balanced_order(std::span<const std::size_t> groups, std::uint64_t seed,
                                 std::uint64_t epoch) {
  struct Deck {
    std::vector<std::size_t> cards;
    std::size_t next = 0;
    std::uint64_t turn = 0;
  };
  std::map<std::size_t, Deck> by_group;
  for (std::size_t i = 0; i < groups.size(); ++i) by_group[groups[i]].cards.push_back(i);
  image::RandomStream random = image::RandomStream::of(seed, epoch, ~std::uint64_t{0});
  std::vector<Deck> decks;
  decks.reserve(by_group.size());
  for (auto& [group, deck] : by_group) {
    random.shuffle(deck.cards);
    decks.push_back(std::move(deck));
  }
  std::vector<std::size_t> round(decks.size());
  std::iota(round.begin(), round.end(), std::size_t{0});
  std::vector<Draw> draws;
  draws.reserve(groups.size());
  while (draws.size() < groups.size()) {
    random.shuffle(round);
    for (std::size_t i = 0; i < round.size() && draws.size() < groups.size(); ++i) {
      Deck& deck = decks[round[i]];
      if (deck.next == deck.cards.size()) {
        random.shuffle(deck.cards);
        deck.next = 0;
        ++deck.turn;
      }
      draws.push_back({deck.cards[deck.next++], deck.turn});
    }
  }
  return draws;
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

std::vector<std::size_t> dealt(std::size_t count, std::size_t batch_size, Shard shard) {
  std::vector<std::size_t> positions;
  positions.reserve(count / shard.processes + batch_size);
  for (std::size_t begin = shard.rank * batch_size; begin < count;
       begin += shard.processes * batch_size) {
    for (std::size_t i = begin; i < std::min(begin + batch_size, count); ++i)
      positions.push_back(i);
  }
  return positions;
}

}  // namespace vitascope::datasets
