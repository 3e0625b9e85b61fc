#pragma once

#include <string>
#include <vector>

#include "vit/model/vision_transformer.h"
#include "vit/random_numbers.h"
#include "vit/train/named_tensors.h"

/// \file
/// LoRA: a frozen weight W is used as W + alpha / rank * B A, and only the thin A and B learn (Hu
/// et al. 2021, arXiv:2106.09685).
namespace vitascope::train {

/// \see add_lora
struct LoraOptions {
  int rank = 16;
  double alpha = 32;
  /// Which products of every block: attn.qkv, attn.proj, mlp.fc1, mlp.fc2.
  std::vector<std::string> where{"attn.qkv", "attn.proj", "mlp.fc1", "mlp.fc2"};
};

/// Gives every chosen product its A, uniform in +-1 / sqrt(in) as PEFT draws it, and a B of zeros:
/// the network computes what it did.
/// \throws UsageError when the rank is not 1 .. the smaller side of a product, alpha is not above
///         0, or a name in `where` is none of those
void add_lora(model::VisionTransformer& network, const LoraOptions& options, RandomNumbers& random);

/// Adds alpha / rank * B A to each weight, in float32, and takes the additions away: the network
/// computes what it did and is as quick as without them.
void merge_lora(model::VisionTransformer& network);

/// What a network with additions learned: `NAME.lora_a`, `NAME.lora_b` and the head's parameters.
NamedTensors adapter_of(const model::VisionTransformer& network);

/// A network with additions and the names of its head's classes.
struct Adapted {
  model::VisionTransformer network;
  std::vector<std::string> labels{};
};

/// Writes adapter_of to a .safetensors file; scale and labels stand in its metadata.
/// \throws UsageError, FailureError as weights::write_safetensors does
void save_adapter(const Adapted& adapted, const std::string& path, bool force);

/// Gives a network without additions those of a file, and its head where that is of another size.
/// \throws InputError when the file is no adapter, or one of another model
Adapted with_adapter(const model::VisionTransformer& network, const std::string& path);

}  // namespace vitascope::train
