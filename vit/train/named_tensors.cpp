#include "vit/train/named_tensors.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

namespace vitascope::train {
namespace {

std::string described(const at::Tensor& tensor) {
  return fmt::format("{} [{}]", c10::toString(tensor.scalar_type()),
                     fmt::join(tensor.sizes(), ", "));
}

}  // namespace

void restore_values(const NamedTensors& saved, const NamedTensors& into) {
  for (const auto& [name, slot] : into) {
    const auto found = saved.find(name);
    if (found == saved.end()) throw std::invalid_argument("the saved state lacks " + name);
    if (found->second.sizes() != slot.sizes() ||
        found->second.scalar_type() != slot.scalar_type()) {
      throw std::invalid_argument(fmt::format("{} of the saved state is {}: expected {}", name,
                                              described(found->second), described(slot)));
    }
  }
  for (const auto& [name, value] : saved) {
    if (!into.contains(name)) {
      throw std::invalid_argument(
          fmt::format("the saved state holds {}, which has no place here", name));
    }
  }
  const c10::AutoGradMode no_gradient(false);
  for (const auto& [name, slot] : into) slot.copy_(saved.at(name));
}

}  // namespace vitascope::train
