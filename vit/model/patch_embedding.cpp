#include "vit/model/patch_embedding.h"

#include <fmt/format.h>

#include <stdexcept>

namespace vitascope::model {
namespace {

/// [B, 3, H, W] -> [B, rows * columns, 3 * P * P]: each patch as one row, channel by channel, so
/// that the convolution of the papers is one product that LibTorch's fastest path takes.
at::Tensor patches_of(const at::Tensor& pixels, std::int64_t patch, Grid grid) {
  return pixels.view({pixels.size(0), pixels.size(1), grid.rows, patch, grid.columns, patch})
      .permute({0, 2, 4, 1, 3, 5})
      .reshape({pixels.size(0), grid.count(), pixels.size(1) * patch * patch});
}

/// [B, 3, H, W] -> [B, rows * columns, channels of the last]: convolutions with GELU after each.
at::Tensor through_stem(const at::Tensor& pixels, const std::vector<kernels::Weight>& stem,
                        const Config& config) {
  // Channels last: what oneDNN's convolutions like best, and what the projection reads.
  at::Tensor x = pixels.contiguous(at::MemoryFormat::ChannelsLast);
  for (std::size_t i = 0; i < stem.size(); ++i) {
    const std::int64_t stride = stem_stride(config, i);
    x = at::gelu(at::conv2d(x, stem[i].weight, stem[i].bias, stride, /*padding=*/1));
  }
  return x.permute({0, 2, 3, 1}).reshape({x.size(0), x.size(2) * x.size(3), x.size(1)});
}

}  // namespace

Grid patch_grid(const Config& config, std::int64_t height, std::int64_t width) {
  if (height < config.patch || width < config.patch || height % config.patch != 0 ||
      width % config.patch != 0) {
    throw std::invalid_argument(
        fmt::format("input of {} x {} pixels (height x width): each side must be a multiple of the "
                    "patch edge {}",
                    height, width, config.patch));
  }
  return {static_cast<int>(height / config.patch), static_cast<int>(width / config.patch)};
}

at::Tensor interpolate_positions(const at::Tensor& pos_embed, int prefix, Grid from, Grid to,
                                 PositionInterpolation rule) {
  if (from == to) return pos_embed;
  const std::int64_t width = pos_embed.size(2);
  // Interpolated in float32 whatever the weights' precision, as the Python libraries do.
  const at::Tensor grid = pos_embed.slice(1, prefix)
                              .to(at::kFloat)
                              .reshape({1, from.rows, from.columns, width})
                              .permute({0, 3, 1, 2})
                              .contiguous();
  const std::vector<std::int64_t> size{to.rows, to.columns};
  const at::Tensor resized = rule == PositionInterpolation::bicubic
                                 ? at::upsample_bicubic2d(grid, size, /*align_corners=*/false)
                                 : at::_upsample_bicubic2d_aa(grid, size, /*align_corners=*/false);
  const at::Tensor tokens =
      resized.permute({0, 2, 3, 1}).reshape({1, to.count(), width}).to(pos_embed.scalar_type());
  return at::cat({pos_embed.slice(1, 0, prefix), tokens}, 1);
}

at::Tensor PatchEmbedding::forward(const at::Tensor& pixels, const Config& config) const {
  const Grid grid = patch_grid(config, pixels.size(2), pixels.size(3));
  const std::int64_t batch = pixels.size(0);
  const at::Tensor rows =
      stem.empty() ? patches_of(pixels.contiguous(), config.patch, grid).to(weight.scalar_type())
                   : through_stem(pixels.to(weight.scalar_type()), stem, config);
  at::Tensor tokens = kernels::linear(rows, {weight.view({weight.size(0), -1}), bias});

  const int prefix = config.position_prefix;
  const at::Tensor positions =
      interpolate_positions(pos_embed, prefix, config.position_grid, grid, config.interpolation);
  // Position embeddings go to the patches and to the first `prefix` of the prefix tokens.
  tokens = tokens + positions.slice(1, prefix);
  std::vector<at::Tensor> parts;
  for (const at::Tensor* token : {&cls_token, &dist_token, &reg_token}) {
    if (token->defined()) parts.push_back(*token);
  }
  if (parts.empty()) return tokens;
  at::Tensor front = at::cat(parts, 1);
  if (prefix > 0) {
    front = at::cat(
        {front.slice(1, 0, prefix) + positions.slice(1, 0, prefix), front.slice(1, prefix)}, 1);
  }
  return at::cat({front.expand({batch, -1, -1}), tokens}, 1);
}

}  // namespace vitascope::model
