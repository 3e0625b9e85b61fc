#pragma once

#include <cstdint>

#include "vit/error.h"
#include "vit/weights/stored_tensors.h"

/// \file
/// What every fuzz target does with the tensors that a parser hands out.
namespace vitascope::fuzz {

/// Reads every byte of every tensor, so that the address sanitizer sees any that is not the file's,
/// and stops the program when a shape reaches beyond its bytes.
inline void touch(const weights::StoredTensors& stored) {
  volatile std::uint8_t sink = 0;
  for (const auto& [name, tensor] : stored.tensors) {
    const auto count = static_cast<unsigned __int128>(weights::element_count(tensor.shape));
    unsigned __int128 needed = count;
    if (!tensor.strides.empty()) {
      if (tensor.strides.size() != tensor.shape.size()) __builtin_trap();
      needed = count == 0 ? 0 : 1;
      for (std::size_t i = 0; i < tensor.shape.size() && count > 0; ++i) {
        if (tensor.strides[i] < 0) __builtin_trap();
        needed += static_cast<unsigned __int128>(tensor.shape[i] - 1) *
                  static_cast<unsigned __int128>(tensor.strides[i]);
      }
    }
    if (needed * weights::element_size(tensor.dtype) > tensor.bytes.size()) __builtin_trap();
    for (const std::byte byte : tensor.bytes) sink = sink ^ std::to_integer<std::uint8_t>(byte);
  }
}

/// Runs `parse`, for which InputError is the one way to refuse. Anything else ends the program.
template <typename Parse>
void refuse_or_accept(const Parse& parse) {
  try {
    parse();
  } catch (const InputError&) {
  }
}

}  // namespace vitascope::fuzz
