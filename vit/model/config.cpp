#include "vit/model/config.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace vitascope::model {
namespace {

// Bounds well above every published model. They keep a file that lies about its sizes from making
// us list millions of names or ask for memory that no machine has.
constexpr std::int64_t kMaximumWidth = 16384;
constexpr std::int64_t kMaximumDepth = 512;
constexpr std::int64_t kMaximumMlpWidth = 131072;
constexpr std::int64_t kMaximumPatch = 512;
constexpr std::int64_t kMaximumSide = 4096;
constexpr std::size_t kMaximumStem = 16;
constexpr std::int64_t kMaximumStemChannels = 4096;
constexpr std::int64_t kMaximumRegisters = 1024;
constexpr std::int64_t kMaximumClasses = 1000000;
constexpr std::int64_t kMaximumPhotos = 100000000;

void require_between(std::string_view key, std::int64_t value, std::int64_t lowest,
                     std::int64_t highest) {
  if (value < lowest || value > highest) {
    throw std::invalid_argument(
        fmt::format("{} is {}: expected {} to {}", key, value, lowest, highest));
  }
}

void require(bool holds, const std::string& message) {
  if (!holds) throw std::invalid_argument(message);
}

void require_grid(std::string_view key, Grid grid) {
  require_between(fmt::format("rows of the {}", key), grid.rows, 1, kMaximumSide);
  require_between(fmt::format("columns of the {}", key), grid.columns, 1, kMaximumSide);
}

/// Halvings of a side that make `patch` pixels one; nothing when none do.
std::optional<std::size_t> halvings(int patch) {
  const auto edge = static_cast<unsigned>(patch);
  if (!std::has_single_bit(edge)) return std::nullopt;
  return static_cast<std::size_t>(std::countr_zero(edge));
}

void validate_stem(const Config& config) {
  if (config.stem.empty()) return;
  const auto halved = halvings(config.patch);
  require(halved.has_value(),
          fmt::format("patch size is {}: expected a power of 2 behind a stem of convolutions",
                      config.patch));
  require(config.stem.size() >= *halved && config.stem.size() <= kMaximumStem,
          fmt::format("the stem has {} convolutions: expected {} to {} for patches of {}",
                      config.stem.size(), *halved, kMaximumStem, config.patch));
  for (const int channels : config.stem) {
    require_between("number of channels in the stem", channels, 1, kMaximumStemChannels);
  }
}

void validate_neighbours(const Config& config) {
  if (!config.neighbours) return;
  const NeighbourVote& vote = *config.neighbours;
  require(!config.multi_label,
          "the head of neighbours has several labels a photo: expected one label a photo");
  require(std::ssize(vote.photos) == config.classes,
          fmt::format("the head of neighbours keeps photos of {} classes: expected {}",
                      vote.photos.size(), config.classes));
  for (const int photos : vote.photos) {
    require_between("number of photos of a class", photos, 0, kMaximumPhotos);
  }
  require_between("number of photos that the head keeps", vote.total(), 1, kMaximumPhotos);
  require_between("number of neighbours", vote.count, 1, vote.total());
  require(
      std::isfinite(vote.temperature) && vote.temperature > 0,
      fmt::format("temperature of the neighbours is {}: expected more than 0", vote.temperature));
}

/// What a head of neighbours compares: DeiT distilled has two tokens for its heads.
std::int64_t compared_width(const Config& config) {
  return std::int64_t{config.pooling == Pooling::first_two ? 2 : 1} * config.feature_width();
}

/// Multiply-adds of the head.
std::int64_t head_products(const Config& config) {
  if (config.neighbours) return config.neighbours->total() * compared_width(config);
  const int heads = config.pooling == Pooling::first_two ? 2 : 1;
  return std::int64_t{config.classes} * config.feature_width() * heads;
}

/// Multiply-adds of the stem.
std::int64_t stem_products(const Config& config, Grid grid) {
  std::int64_t side = config.patch;  // of a token's square
  std::int64_t before = config.channels;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < config.stem.size(); ++i) {
    side /= stem_stride(config, i);
    sum += grid.count() * side * side * 9 * before * config.stem[i];
    before = config.stem[i];
  }
  return sum;
}

/// Collects names and shapes in order.
class ShapeList {
 public:
  using Shape = std::vector<std::int64_t>;

  void add(std::string name, Shape shape) { list_.push_back({std::move(name), std::move(shape)}); }
  void norm(const std::string& name, std::int64_t width) { linear(name, {width}, true); }
  void linear(const std::string& name, Shape weight, bool bias) {
    const std::int64_t rows = weight.front();
    add(name + ".weight", std::move(weight));
    if (bias) add(name + ".bias", {rows});
  }
  std::vector<ParameterShape> take() { return std::move(list_); }

 private:
  std::vector<ParameterShape> list_;
};

void add_embedding(ShapeList& list, const Config& config) {
  const std::int64_t width = config.width;
  if (config.class_token) list.add("cls_token", {1, 1, width});
  if (config.registers > 0) list.add("reg_token", {1, config.registers, width});
  list.add("pos_embed", {1, config.position_prefix + config.position_grid.count(), width});
  if (config.distillation_token) list.add("dist_token", {1, 1, width});
  std::int64_t channels = config.channels;
  for (std::size_t i = 0; i < config.stem.size(); ++i) {
    list.linear(fmt::format("patch_embed.stem.{}", i), {config.stem[i], channels, 3, 3}, true);
    channels = config.stem[i];
  }
  const std::int64_t edge = config.stem.empty() ? config.patch : 1;
  list.linear("patch_embed.proj", {width, channels, edge, edge}, config.patch_bias);
  if (config.pre_norm) list.norm("norm_pre", width);
}

void add_block(ShapeList& list, const Config& config, int index) {
  const std::string block = fmt::format("blocks.{}.", index);
  const std::int64_t width = config.width;
  list.norm(block + "norm1", width);
  list.linear(block + "attn.qkv", {3 * width, width}, config.qkv_bias);
  if (config.qk_norm) {
    list.norm(block + "attn.q_norm", config.head_width());
    list.norm(block + "attn.k_norm", config.head_width());
  }
  list.linear(block + "attn.proj", {width, width}, config.projection_bias);
  if (config.layer_scale) list.add(block + "ls1.gamma", {width});
  list.norm(block + "norm2", width);
  const std::int64_t mlp = config.mlp_width;
  list.linear(block + "mlp.fc1", {config.swiglu ? 2 * mlp : mlp, width}, config.projection_bias);
  list.linear(block + "mlp.fc2", {width, mlp}, config.projection_bias);
  if (config.layer_scale) list.add(block + "ls2.gamma", {width});
}

}  // namespace

std::int64_t NeighbourVote::total() const {
  return std::accumulate(photos.begin(), photos.end(), std::int64_t{0});
}

int stem_stride(const Config& config, std::size_t index) {
  return index + halvings(config.patch).value_or(0) >= config.stem.size() ? 2 : 1;
}

void validate(const Config& config) {
  require_between("width", config.width, 1, kMaximumWidth);
  require_between("depth", config.depth, 1, kMaximumDepth);
  require_between("number of heads", config.heads, 1, config.width);
  require(config.width % config.heads == 0,
          fmt::format("number of heads is {}: expected a divisor of the width, {}", config.heads,
                      config.width));
  require_between("MLP width", config.mlp_width, 1, kMaximumMlpWidth);
  require_between("patch size", config.patch, 1, kMaximumPatch);
  require(config.channels == 3,
          fmt::format("number of channels is {}: expected 3 (RGB)", config.channels));
  validate_stem(config);
  require_grid("position grid", config.position_grid);
  require_grid("native grid", config.native_grid);
  require_between("number of registers", config.registers, 0, kMaximumRegisters);
  require_between("number of classes", config.classes, 0, kMaximumClasses);
  // Position embeddings belong to all prefix tokens, to none, or to all but the registers.
  const int named = int(config.class_token) + int(config.distillation_token);
  require(config.position_prefix == 0 || config.position_prefix == named ||
              config.position_prefix == config.prefix_tokens(),
          fmt::format("number of prefix tokens with a position embedding is {}: expected 0, {} "
                      "or {}",
                      config.position_prefix, named, config.prefix_tokens()));
  require(std::isfinite(config.norm_epsilon) && config.norm_epsilon > 0 && config.norm_epsilon < 1,
          fmt::format("epsilon of the layer normalisation is {}: expected more than 0 and less "
                      "than 1",
                      config.norm_epsilon));
  const bool reads_class_token = config.pooling != Pooling::mean_patches;
  require(config.class_token || !reads_class_token,
          "pooling reads the class token, but the model has none: expected mean pooling");
  require(config.distillation_token || config.pooling != Pooling::first_two,
          "pooling reads the distillation token, but the model has none");
  validate_neighbours(config);
}

std::vector<ParameterShape> parameter_shapes(const Config& config) {
  ShapeList list;
  add_embedding(list, config);
  for (int i = 0; i < config.depth; ++i) add_block(list, config, i);
  if (config.final_norm) list.norm("norm", config.width);
  if (config.fc_norm) list.norm("fc_norm", config.width);
  if (config.neighbours) {
    list.add("head.features", {config.neighbours->total(), compared_width(config)});
  } else if (config.classes > 0) {
    list.linear("head", {config.classes, config.feature_width()}, config.head_bias);
    if (config.pooling == Pooling::first_two) {
      list.linear("head_dist", {config.classes, config.width}, config.head_bias);
    }
  }
  return list.take();
}

std::int64_t parameter_count(const Config& config) {
  std::int64_t total = 0;
  for (const ParameterShape& parameter : parameter_shapes(config)) {
    std::int64_t elements = 1;
    for (const std::int64_t size : parameter.shape) elements *= size;
    total += elements;
  }
  return total;
}

std::int64_t flops(const Config& config, Grid grid) {
  const std::int64_t width = config.width;
  const std::int64_t patches = grid.count();
  const std::int64_t tokens = patches + config.prefix_tokens();
  const std::int64_t read = config.stem.empty()
                                ? std::int64_t{config.channels} * config.patch * config.patch
                                : config.stem.back();
  const std::int64_t embedding = stem_products(config, grid) + patches * width * read;
  const std::int64_t projections = tokens * width * 4 * width;
  const std::int64_t attention = 2 * tokens * tokens * width;
  const std::int64_t mlp = tokens * width * config.mlp_width * (config.swiglu ? 3 : 2);
  return 2 * (embedding + config.depth * (projections + attention + mlp) + head_products(config));
}

}  // namespace vitascope::model
