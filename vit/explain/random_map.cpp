#include "vit/explain/random_map.h"

#include <random>

namespace vitascope::explain {

Map random_map(model::Grid grid, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  at::Tensor values = at::empty({grid.rows, grid.columns}, at::kFloat);
  float* value = values.data_ptr<float>();
  // 24 bits are what a float32 below 1 holds; the standard's distributions differ by library.
  for (int i = 0; i < grid.count(); ++i) {
    value[i] = static_cast<float>(generator() >> 40) * 0x1p-24F;
  }
  return {.values = values, .method = "random"};
}

}  // namespace vitascope::explain
