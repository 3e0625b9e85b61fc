#include "vit/model/architectures.h"

#include <algorithm>
#include <iterator>

namespace vitascope::model {
namespace {

// What an architecture changes of the plain vision transformer (class token first and read by the
// head, biases everywhere, exact GELU, epsilon 1e-6).
enum Change : unsigned {
  plain = 0,
  no_class = 1u << 0,     ///< no class token
  distilled = 1u << 1,    ///< distillation token and a second head
  bare_prefix = 1u << 2,  ///< prefix tokens have no position embedding (`no_embed_class`)
  pre_norm = 1u << 3,     ///< normalises before the first block; then the patches have no bias
  no_qkv_bias = 1u << 4,  ///< query, key and value without bias
  layer_scale = 1u << 5,  ///< LayerScale after attention and MLP
  swiglu = 1u << 6,       ///< SwiGLU instead of the MLP
  quick_gelu = 1u << 7,   ///< x * sigmoid(1.702 x)
  gelu_tanh = 1u << 8,    ///< GELU's tanh approximation
  epsilon5 = 1u << 9,     ///< epsilon 1e-5
  mean = 1u << 10,        ///< the head reads the mean over patches, normalised after pooling
  norm_first = 1u << 11,  ///< with `mean`: normalised before pooling instead
  no_norm = 1u << 12,     ///< no normalisation after the last block
};

struct Row {
  std::string_view name;
  int width, depth, heads, mlp_width, patch, image_size, classes, registers;
  unsigned changes;
};

constexpr Row kRows[] = {
    {"deit3_base_patch16_224", 768, 12, 12, 3072, 16, 224, 1000, 0, bare_prefix | layer_scale},
    {"deit3_base_patch16_384", 768, 12, 12, 3072, 16, 384, 1000, 0, bare_prefix | layer_scale},
    {"deit3_huge_patch14_224", 1280, 32, 16, 5120, 14, 224, 1000, 0, bare_prefix | layer_scale},
    {"deit3_large_patch16_224", 1024, 24, 16, 4096, 16, 224, 1000, 0, bare_prefix | layer_scale},
    {"deit3_large_patch16_384", 1024, 24, 16, 4096, 16, 384, 1000, 0, bare_prefix | layer_scale},
    {"deit3_medium_patch16_224", 512, 12, 8, 2048, 16, 224, 1000, 0, bare_prefix | layer_scale},
    {"deit3_small_patch16_224", 384, 12, 6, 1536, 16, 224, 1000, 0, bare_prefix | layer_scale},
    {"deit3_small_patch16_384", 384, 12, 6, 1536, 16, 384, 1000, 0, bare_prefix | layer_scale},
    {"deit_base_distilled_patch16_224", 768, 12, 12, 3072, 16, 224, 1000, 0, distilled},
    {"deit_base_distilled_patch16_384", 768, 12, 12, 3072, 16, 384, 1000, 0, distilled},
    {"deit_base_patch16_224", 768, 12, 12, 3072, 16, 224, 1000, 0, plain},
    {"deit_base_patch16_384", 768, 12, 12, 3072, 16, 384, 1000, 0, plain},
    {"deit_small_distilled_patch16_224", 384, 12, 6, 1536, 16, 224, 1000, 0, distilled},
    {"deit_small_patch16_224", 384, 12, 6, 1536, 16, 224, 1000, 0, plain},
    {"deit_tiny_distilled_patch16_224", 192, 12, 3, 768, 16, 224, 1000, 0, distilled},
    {"deit_tiny_patch16_224", 192, 12, 3, 768, 16, 224, 1000, 0, plain},
    {"eva_large_patch14_196", 1024, 24, 16, 4096, 14, 196, 1000, 0, mean},
    {"eva_large_patch14_336", 1024, 24, 16, 4096, 14, 336, 1000, 0, mean},
    {"flexivit_base", 768, 12, 12, 3072, 16, 240, 1000, 0, bare_prefix},
    {"flexivit_large", 1024, 24, 16, 4096, 16, 240, 1000, 0, bare_prefix},
    {"flexivit_small", 384, 12, 6, 1536, 16, 240, 1000, 0, bare_prefix},
    {"test_vit", 64, 6, 2, 192, 16, 160, 1000, 0, plain},
    {"test_vit2", 64, 8, 2, 192, 16, 160, 1000, 1, no_class | layer_scale | mean},
    {"vit_base_patch8_224", 768, 12, 12, 3072, 8, 224, 1000, 0, plain},
    {"vit_base_patch14_dinov2", 768, 12, 12, 3072, 14, 518, 0, 0, layer_scale},
    {"vit_base_patch14_reg1_tipsv2", 768, 12, 12, 3072, 14, 448, 0, 1, bare_prefix | layer_scale},
    {"vit_base_patch14_reg4_dinov2", 768, 12, 12, 3072, 14, 518, 0, 4, bare_prefix | layer_scale},
    {"vit_base_patch16_224", 768, 12, 12, 3072, 16, 224, 1000, 0, plain},
    {"vit_base_patch16_224_miil", 768, 12, 12, 3072, 16, 224, 11221, 0, no_qkv_bias},
    {"vit_base_patch16_384", 768, 12, 12, 3072, 16, 384, 1000, 0, plain},
    {"vit_base_patch16_clip_224", 768, 12, 12, 3072, 16, 224, 1000, 0, pre_norm | epsilon5},
    {"vit_base_patch16_clip_384", 768, 12, 12, 3072, 16, 384, 1000, 0, pre_norm | epsilon5},
    {"vit_base_patch16_clip_quickgelu_224", 768, 12, 12, 3072, 16, 224, 512, 0,
     pre_norm | quick_gelu | epsilon5},
    {"vit_base_patch16_gap_224", 768, 12, 16, 3072, 16, 224, 1000, 0, no_class | mean | norm_first},
    {"vit_base_patch16_plus_240", 896, 12, 14, 3584, 16, 240, 1000, 0, layer_scale},
    {"vit_base_patch16_plus_clip_240", 896, 12, 14, 3584, 16, 240, 640, 0, pre_norm | epsilon5},
    {"vit_base_patch16_radio_v3", 768, 12, 12, 3072, 16, 512, 0, 7,
     bare_prefix | layer_scale | no_norm},
    {"vit_base_patch16_reg4_gap_256", 768, 12, 12, 3072, 16, 256, 1000, 4,
     no_class | bare_prefix | mean},
    {"vit_base_patch16_siglip_gap_224", 768, 12, 12, 3072, 16, 224, 0, 0,
     no_class | mean | norm_first},
    {"vit_base_patch16_siglip_gap_256", 768, 12, 12, 3072, 16, 256, 0, 0,
     no_class | mean | norm_first},
    {"vit_base_patch16_siglip_gap_384", 768, 12, 12, 3072, 16, 384, 0, 0,
     no_class | mean | norm_first},
    {"vit_base_patch16_siglip_gap_512", 768, 12, 12, 3072, 16, 512, 0, 0,
     no_class | mean | norm_first},
    {"vit_base_patch32_224", 768, 12, 12, 3072, 32, 224, 1000, 0, plain},
    {"vit_base_patch32_384", 768, 12, 12, 3072, 32, 384, 1000, 0, plain},
    {"vit_base_patch32_clip_224", 768, 12, 12, 3072, 32, 224, 1000, 0, pre_norm | epsilon5},
    {"vit_base_patch32_clip_256", 768, 12, 12, 3072, 32, 256, 512, 0, pre_norm | epsilon5},
    {"vit_base_patch32_clip_384", 768, 12, 12, 3072, 32, 384, 1000, 0, pre_norm | epsilon5},
    {"vit_base_patch32_clip_448", 768, 12, 12, 3072, 32, 448, 1000, 0, pre_norm | epsilon5},
    {"vit_base_patch32_clip_quickgelu_224", 768, 12, 12, 3072, 32, 224, 512, 0,
     pre_norm | quick_gelu | epsilon5},
    {"vit_base_patch32_plus_256", 896, 12, 14, 3584, 32, 256, 1000, 0, layer_scale},
    {"vit_base_patch32_siglip_gap_256", 768, 12, 12, 3072, 32, 256, 0, 0,
     no_class | gelu_tanh | mean | norm_first},
    {"vit_betwixt_patch16_gap_256", 640, 12, 10, 2560, 16, 256, 1000, 0,
     no_class | no_qkv_bias | layer_scale | mean | norm_first},
    {"vit_betwixt_patch16_reg1_gap_256", 640, 12, 10, 2560, 16, 256, 1000, 1,
     no_class | bare_prefix | layer_scale | mean},
    {"vit_betwixt_patch16_reg4_gap_256", 640, 12, 10, 2560, 16, 256, 1000, 4,
     no_class | bare_prefix | layer_scale | mean},
    {"vit_betwixt_patch16_reg4_gap_384", 640, 12, 10, 2560, 16, 384, 1000, 4,
     no_class | bare_prefix | layer_scale | mean},
    {"vit_betwixt_patch32_clip_224", 640, 12, 10, 2560, 32, 224, 512, 0, pre_norm | epsilon5},
    {"vit_giant_patch14_224", 1408, 40, 16, 6144, 14, 224, 1000, 0, plain},
    {"vit_giant_patch14_clip_224", 1408, 40, 16, 6144, 14, 224, 1024, 0, pre_norm | epsilon5},
    {"vit_giant_patch14_dinov2", 1536, 40, 24, 4096, 14, 518, 0, 0, layer_scale | swiglu},
    {"vit_giant_patch14_reg1_tipsv2", 1536, 40, 24, 4096, 14, 448, 0, 1,
     bare_prefix | layer_scale | swiglu},
    {"vit_giant_patch14_reg4_dinov2", 1536, 40, 24, 4096, 14, 518, 0, 4,
     bare_prefix | layer_scale | swiglu},
    {"vit_giant_patch16_gap_224", 1408, 40, 16, 6144, 16, 224, 0, 0, no_class | mean | norm_first},
    {"vit_giant_patch16_radio_v3", 1536, 40, 24, 6144, 16, 512, 0, 7, bare_prefix | no_norm},
    {"vit_giantopt_patch16_siglip_gap_256", 1536, 40, 16, 6144, 16, 256, 0, 0,
     no_class | gelu_tanh | mean | norm_first},
    {"vit_giantopt_patch16_siglip_gap_384", 1536, 40, 16, 6144, 16, 384, 0, 0,
     no_class | gelu_tanh | mean | norm_first},
    {"vit_gigantic_patch14_224", 1664, 48, 16, 8192, 14, 224, 1000, 0, plain},
    {"vit_gigantic_patch14_clip_224", 1664, 48, 16, 8192, 14, 224, 1280, 0, pre_norm | epsilon5},
    {"vit_gigantic_patch14_clip_378", 1664, 48, 16, 8192, 14, 378, 1280, 0, pre_norm | epsilon5},
    {"vit_gigantic_patch14_clip_quickgelu_224", 1664, 48, 16, 8192, 14, 224, 1280, 0,
     pre_norm | quick_gelu | epsilon5},
    {"vit_huge_patch14_224", 1280, 32, 16, 5120, 14, 224, 0, 0, plain},
    {"vit_huge_patch14_clip_224", 1280, 32, 16, 5120, 14, 224, 1000, 0, pre_norm | epsilon5},
    {"vit_huge_patch14_clip_336", 1280, 32, 16, 5120, 14, 336, 1000, 0, pre_norm | epsilon5},
    {"vit_huge_patch14_clip_378", 1280, 32, 16, 5120, 14, 378, 1024, 0, pre_norm | epsilon5},
    {"vit_huge_patch14_clip_quickgelu_224", 1280, 32, 16, 5120, 14, 224, 1024, 0,
     pre_norm | quick_gelu | epsilon5},
    {"vit_huge_patch14_clip_quickgelu_378", 1280, 32, 16, 5120, 14, 378, 1024, 0,
     pre_norm | quick_gelu | epsilon5},
    {"vit_huge_patch14_gap_224", 1280, 32, 16, 5120, 14, 224, 0, 0, no_class | mean | norm_first},
    {"vit_huge_patch16_gap_448", 1280, 32, 16, 5120, 16, 448, 0, 0, no_class | mean | norm_first},
    {"vit_huge_patch16_radio_v3", 1280, 32, 16, 5120, 16, 512, 0, 7, bare_prefix | no_norm},
    {"vit_huge_patch16_radio_v4", 1280, 32, 16, 5120, 16, 512, 0, 9, bare_prefix | no_norm},
    {"vit_intern300m_patch14_448", 1024, 24, 16, 4096, 14, 448, 0, 0, layer_scale | no_norm},
    {"vit_large_patch14_224", 1024, 24, 16, 4096, 14, 224, 1000, 0, plain},
    {"vit_large_patch14_clip_224", 1024, 24, 16, 4096, 14, 224, 1000, 0, pre_norm | epsilon5},
    {"vit_large_patch14_clip_336", 1024, 24, 16, 4096, 14, 336, 1000, 0, pre_norm | epsilon5},
    {"vit_large_patch14_clip_quickgelu_224", 1024, 24, 16, 4096, 14, 224, 768, 0,
     pre_norm | quick_gelu | epsilon5},
    {"vit_large_patch14_clip_quickgelu_336", 1024, 24, 16, 4096, 14, 336, 768, 0,
     pre_norm | quick_gelu | epsilon5},
    {"vit_large_patch14_dinov2", 1024, 24, 16, 4096, 14, 518, 0, 0, layer_scale},
    {"vit_large_patch14_reg1_tipsv2", 1024, 24, 16, 4096, 14, 448, 0, 1, bare_prefix | layer_scale},
    {"vit_large_patch14_reg4_dinov2", 1024, 24, 16, 4096, 14, 518, 0, 4, bare_prefix | layer_scale},
    {"vit_large_patch16_224", 1024, 24, 16, 4096, 16, 224, 1000, 0, plain},
    {"vit_large_patch16_384", 1024, 24, 16, 4096, 16, 384, 1000, 0, plain},
    {"vit_large_patch16_radio_v3", 1024, 24, 16, 4096, 16, 512, 0, 7,
     bare_prefix | layer_scale | no_norm},
    {"vit_large_patch16_siglip_gap_256", 1024, 24, 16, 4096, 16, 256, 0, 0,
     no_class | mean | norm_first},
    {"vit_large_patch16_siglip_gap_384", 1024, 24, 16, 4096, 16, 384, 0, 0,
     no_class | mean | norm_first},
    {"vit_large_patch16_siglip_gap_512", 1024, 24, 16, 4096, 16, 512, 0, 0,
     no_class | gelu_tanh | mean | norm_first},
    {"vit_large_patch32_224", 1024, 24, 16, 4096, 32, 224, 0, 0, plain},
    {"vit_large_patch32_384", 1024, 24, 16, 4096, 32, 384, 1000, 0, plain},
    {"vit_little_patch16_reg1_gap_256", 320, 14, 5, 1792, 16, 256, 1000, 1,
     no_class | bare_prefix | layer_scale | mean},
    {"vit_little_patch16_reg4_gap_256", 320, 14, 5, 1792, 16, 256, 1000, 4,
     no_class | bare_prefix | layer_scale | mean},
    {"vit_medium_patch16_clip_224", 512, 12, 8, 2048, 16, 224, 512, 0, pre_norm | epsilon5},
    {"vit_medium_patch16_gap_240", 512, 12, 8, 2048, 16, 240, 11821, 0,
     no_class | no_qkv_bias | layer_scale | mean | norm_first},
    {"vit_medium_patch16_gap_256", 512, 12, 8, 2048, 16, 256, 1000, 0,
     no_class | no_qkv_bias | layer_scale | mean | norm_first},
    {"vit_medium_patch16_gap_384", 512, 12, 8, 2048, 16, 384, 1000, 0,
     no_class | no_qkv_bias | layer_scale | mean | norm_first},
    {"vit_medium_patch16_reg1_gap_256", 512, 12, 8, 2048, 16, 256, 1000, 1,
     no_class | bare_prefix | layer_scale | mean},
    {"vit_medium_patch16_reg4_gap_256", 512, 12, 8, 2048, 16, 256, 1000, 4,
     no_class | bare_prefix | layer_scale | mean},
    {"vit_medium_patch32_clip_224", 512, 12, 8, 2048, 32, 224, 512, 0, pre_norm | epsilon5},
    {"vit_mediumd_patch16_reg4_gap_256", 512, 20, 8, 2048, 16, 256, 1000, 4,
     no_class | bare_prefix | layer_scale | mean},
    {"vit_mediumd_patch16_reg4_gap_384", 512, 20, 8, 2048, 16, 384, 1000, 4,
     no_class | bare_prefix | layer_scale | mean},
    {"vit_small_patch8_224", 384, 12, 6, 1536, 8, 224, 0, 0, plain},
    {"vit_small_patch14_dinov2", 384, 12, 6, 1536, 14, 518, 0, 0, layer_scale},
    {"vit_small_patch14_reg4_dinov2", 384, 12, 6, 1536, 14, 518, 0, 4, bare_prefix | layer_scale},
    {"vit_small_patch16_36x1_224", 384, 36, 6, 1536, 16, 224, 1000, 0, layer_scale},
    {"vit_small_patch16_224", 384, 12, 6, 1536, 16, 224, 1000, 0, plain},
    {"vit_small_patch16_384", 384, 12, 6, 1536, 16, 384, 1000, 0, plain},
    {"vit_small_patch32_224", 384, 12, 6, 1536, 32, 224, 1000, 0, plain},
    {"vit_small_patch32_384", 384, 12, 6, 1536, 32, 384, 1000, 0, plain},
    {"vit_so150m2_patch16_reg1_gap_256", 832, 21, 13, 2176, 16, 256, 1000, 1,
     no_class | no_qkv_bias | layer_scale | mean},
    {"vit_so150m2_patch16_reg1_gap_384", 832, 21, 13, 2176, 16, 384, 1000, 1,
     no_class | no_qkv_bias | layer_scale | mean},
    {"vit_so150m2_patch16_reg1_gap_448", 832, 21, 13, 2176, 16, 448, 1000, 1,
     no_class | no_qkv_bias | layer_scale | mean},
    {"vit_so150m_patch16_reg4_gap_256", 896, 18, 14, 2304, 16, 256, 1000, 4,
     no_class | mean | norm_first},
    {"vit_so150m_patch16_reg4_gap_384", 896, 18, 14, 2304, 16, 384, 1000, 4,
     no_class | mean | norm_first},
    {"vit_so400m_patch14_reg1_tipsv2", 1152, 27, 16, 4304, 14, 448, 0, 1,
     bare_prefix | layer_scale},
    {"vit_so400m_patch14_siglip_gap_224", 1152, 27, 16, 4304, 14, 224, 0, 0,
     no_class | mean | norm_first},
    {"vit_so400m_patch14_siglip_gap_378", 1152, 27, 16, 4304, 14, 378, 0, 0,
     no_class | mean | norm_first},
    {"vit_so400m_patch14_siglip_gap_384", 1152, 27, 16, 4304, 14, 384, 0, 0,
     no_class | mean | norm_first},
    {"vit_so400m_patch14_siglip_gap_448", 1152, 27, 16, 4304, 14, 448, 0, 0,
     no_class | mean | norm_first},
    {"vit_so400m_patch14_siglip_gap_896", 1152, 27, 16, 4304, 14, 896, 0, 0,
     no_class | mean | norm_first},
    {"vit_so400m_patch16_radio_v4", 1152, 27, 16, 4304, 16, 512, 0, 9, bare_prefix | no_norm},
    {"vit_so400m_patch16_siglip_gap_256", 1152, 27, 16, 4304, 16, 256, 0, 0,
     no_class | gelu_tanh | mean | norm_first},
    {"vit_so400m_patch16_siglip_gap_384", 1152, 27, 16, 4304, 16, 384, 0, 0,
     no_class | gelu_tanh | mean | norm_first},
    {"vit_so400m_patch16_siglip_gap_512", 1152, 27, 16, 4304, 16, 512, 0, 0,
     no_class | gelu_tanh | mean | norm_first},
    {"vit_tiny_patch16_224", 192, 12, 3, 768, 16, 224, 1000, 0, plain},
    {"vit_tiny_patch16_384", 192, 12, 3, 768, 16, 384, 1000, 0, plain},
    {"vit_wee_patch16_reg1_gap_256", 256, 14, 4, 1280, 16, 256, 1000, 1,
     no_class | bare_prefix | layer_scale | mean},
    {"vit_xsmall_patch16_clip_224", 256, 10, 4, 1024, 16, 224, 512, 0, pre_norm | epsilon5},
};

Config config_of(const Row& row) {
  const auto has = [&](Change change) { return (row.changes & change) != 0; };
  Config config;
  config.family = row.name;
  config.width = row.width;
  config.depth = row.depth;
  config.heads = row.heads;
  config.mlp_width = row.mlp_width;
  config.patch = row.patch;
  config.position_grid = {row.image_size / row.patch, row.image_size / row.patch};
  config.native_grid = config.position_grid;
  config.interpolation = PositionInterpolation::bicubic_antialias;
  config.class_token = !has(no_class);
  config.distillation_token = has(distilled);
  config.registers = row.registers;
  config.position_prefix = has(bare_prefix) ? 0 : config.prefix_tokens();
  config.patch_bias = !has(pre_norm);
  config.qkv_bias = !has(no_qkv_bias);
  config.layer_scale = has(layer_scale);
  config.swiglu = has(swiglu);
  config.pre_norm = has(pre_norm);
  config.fc_norm = has(mean) && !has(norm_first) && !has(no_norm);
  config.final_norm = !config.fc_norm && !has(no_norm);
  if (has(swiglu)) config.activation = Activation::silu;
  if (has(quick_gelu)) config.activation = Activation::quick_gelu;
  if (has(gelu_tanh)) config.activation = Activation::gelu_tanh;
  config.norm_epsilon = has(epsilon5) ? 1e-5 : 1e-6;
  if (has(distilled)) config.pooling = Pooling::first_two;
  if (has(mean)) config.pooling = Pooling::mean_patches;
  config.classes = row.classes;
  return config;
}

}  // namespace

std::optional<Config> architecture(std::string_view name) {
  const std::string_view untagged = name.substr(0, name.find('.'));
  const auto* row = std::ranges::find(kRows, untagged, &Row::name);
  if (row == std::end(kRows)) return std::nullopt;
  return config_of(*row);
}

std::vector<std::string> architecture_names() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

}  // namespace vitascope::model
