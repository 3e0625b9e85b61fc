#include "vit/weights/pickle_heights.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace vitascope::weights {
namespace {

/// Each value is measured once; since `depth` is bounded, so is this recursion, and a cycle soon
/// exceeds it.
int measure(const PicklePtr& value, int depth, PickleHeights& heights) {
  if (!value) return 0;
  const auto known = heights.find(value.get());
  const int below = known == heights.end() ? 0 : known->second;
  if (depth + below > kPickleDepth) {
    throw std::length_error(
        fmt::format("the value is nested more than {} levels deep, or holds itself", kPickleDepth));
  }
  if (known != heights.end()) return below;
  int result = 0;
  const auto visit = [&](const PicklePtr& part) {
    result = std::max(result, 1 + measure(part, depth + 1, heights));
  };
  if (const auto* sequence = std::get_if<PickleSequence>(&value->value)) {
    for (const PicklePtr& item : sequence->items) visit(item);
  } else if (const auto* dict = std::get_if<PickleDict>(&value->value)) {
    for (const auto& [key, item] : dict->items) {
      visit(key);
      visit(item);
    }
  } else if (const auto* object = std::get_if<PickleObject>(&value->value)) {
    for (const PicklePtr* part :
         {&object->callable, &object->arguments, &object->state, &object->items}) {
      visit(*part);
    }
  } else if (const auto* persistent = std::get_if<PicklePersistent>(&value->value)) {
    visit(persistent->id);
  }
  heights.emplace(value.get(), result);
  return result;
}

}  // namespace

PickleHeights measure_heights(const PicklePtr& root) {
  PickleHeights heights;
  measure(root, 0, heights);
  return heights;
}

}  // namespace vitascope::weights
