#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

/// \file
/// What a decoder looks at.
namespace vitascope::caption {

/// The annotation vectors of photos (Xu et al. 2015, arXiv:1502.03044): one for each cell of a
/// grid, row by row.
struct Annotations {
  at::Tensor values;                   ///< [B, L, D]
  std::int64_t rows = 0, columns = 0;  ///< of the grid; rows * columns == L
  at::Tensor mask{};                   ///< bool [B, L], true: seen; undefined: all are
};

}  // namespace vitascope::caption
