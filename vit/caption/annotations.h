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

/// Channels that with_coordinates() adds.
inline constexpr std::int64_t kCoordinates = 2;

/// The row and the column of each place, from -1 to 1, behind its vector: what is looked at then
/// says where it lies (CoordConv, Liu et al. 2018, arXiv:1807.03247). \return values [B, L, D + 2]
Annotations with_coordinates(const Annotations& annotations);

}  // namespace vitascope::caption
