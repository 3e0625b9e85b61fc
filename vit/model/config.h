#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// \file
/// One description for every family of vision transformer.
namespace vitascope::model {

/// Rows and columns of patches.
struct Grid {
  int rows = 0;
  int columns = 0;
  int count() const { return rows * columns; }
  bool operator==(const Grid&) const = default;
};

/// Activation of the MLP; `gelu` is the exact one.
enum class Activation { gelu, gelu_tanh, quick_gelu, relu, silu };

/// What the head reads.
enum class Pooling {
  class_token,     ///< the class token
  mean_patches,    ///< the mean over the patch tokens, prefix tokens left out
  class_and_mean,  ///< class token and mean of patch tokens side by side (transformers' DINOv2)
  first_two,       ///< DeiT distilled: class and distillation token, each through its own head
};

/// How position embeddings are interpolated to another grid; both bicubic, align_corners false.
enum class PositionInterpolation {
  bicubic,            ///< a = -0.75, no antialias: ViT, DeiT and DINOv2 in transformers
  bicubic_antialias,  ///< a = -0.5, antialias: timm, and DINOv2 with registers in transformers
};

/// A head that has kept photos in place of a matrix; \see NeighbourHead.
struct NeighbourVote {
  int count = 0;              ///< nearest photos that vote
  double temperature = 0.07;  ///< of their votes, exp(cosine / temperature)
  std::vector<int> photos{};  ///< kept of each class

  std::int64_t total() const;  ///< all photos that are kept
  bool operator==(const NeighbourVote&) const = default;
};

/// What a model is: sizes, which parts it has, and the rules that its family follows.
struct Config {
  std::string family = "vit";  ///< vit, deit, dinov2, dinov2_with_registers or a timm architecture
  int width = 768;             ///< hidden size
  int depth = 12;              ///< blocks
  int heads = 12;
  int mlp_width = 3072;  ///< rows of fc1, or of each of SwiGLU's two halves
  int patch = 16;        ///< edge of a square patch, in pixels
  int channels = 3;
  /// Channels of 3 x 3 convolutions between the pixels and the projection, which then reads single
  /// positions of the last (Xiao et al. 2021, arXiv:2106.14881). The last log2(patch) of them halve
  /// both sides, so that a token still stands for a square of `patch` pixels. Empty: the projection
  /// reads the patches themselves.
  std::vector<int> stem{};

  Grid position_grid{14, 14};  ///< the grid that the position embeddings are stored for
  Grid native_grid{14, 14};    ///< the grid of the model's own input size
  int position_prefix = 1;     ///< prefix tokens that have a position embedding too
  PositionInterpolation interpolation = PositionInterpolation::bicubic;
  bool learned_positions = true;  ///< false: training leaves the position embeddings as they are

  bool class_token = true;
  bool distillation_token = false;  ///< DeiT distilled: second prefix token
  int registers = 0;                ///< register tokens, after class token

  bool patch_bias = true;
  bool qkv_bias = true;
  bool projection_bias = true;
  bool qk_norm = false;  ///< LayerNorm of q and k over the head width
  bool layer_scale = false;
  bool swiglu = false;     ///< gate rows first, then up rows
  bool pre_norm = false;   ///< LayerNorm before the first block (timm `norm_pre`)
  bool final_norm = true;  ///< LayerNorm after the last block
  bool fc_norm = false;    ///< LayerNorm after pooling
  Activation activation = Activation::gelu;
  double norm_epsilon = 1e-6;

  Pooling pooling = Pooling::class_token;
  int classes = 0;  ///< 0: a backbone without a head
  bool head_bias = true;
  bool multi_label = false;                   ///< sigmoid instead of softmax
  std::optional<NeighbourVote> neighbours{};  ///< nothing: the head is linear

  int head_width() const { return width / heads; }
  /// class token, distillation token and registers
  int prefix_tokens() const { return int(class_token) + int(distillation_token) + registers; }
  /// Width of what the head reads.
  int feature_width() const { return pooling == Pooling::class_and_mean ? 2 * width : width; }
  bool operator==(const Config&) const = default;
};

/// Steps of convolution `index` of the stem in both directions: 2 for the last log2(patch), else 1.
int stem_stride(const Config& config, std::size_t index);

/// Checks that the numbers fit together (positive, heads divide width, bounds that keep a hostile
/// file from asking for absurd memory).
/// \throws std::invalid_argument with a sentence that names the key, what it is and what it must be
void validate(const Config& config);

/// Name and shape of a parameter, timm's names.
struct ParameterShape {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// Every parameter of the model in the order of timm's state_dict; the head's are named `head.*`
/// (and `head_dist.*`): a matrix and a bias, or `head.features`, the photos that a head of
/// neighbours has kept, [photos, what it reads of a photo].
std::vector<ParameterShape> parameter_shapes(const Config& config);

/// Number of parameters.
std::int64_t parameter_count(const Config& config);

/// Floating-point operations of one image (a multiply-add counts as two) on a grid of patches.
std::int64_t flops(const Config& config, Grid grid);

}  // namespace vitascope::model
