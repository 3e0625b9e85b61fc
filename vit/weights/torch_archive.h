#pragma once

#include <memory>
#include <string>

#include "vit/weights/stored_tensors.h"

/// \file
/// Files of torch.save: .pth, .pt, .bin.
namespace vitascope::weights {

/// Reads a checkpoint, mapped, tensors not copied. Nested weights are taken in timm's order
/// (state_dict_ema, model_ema, state_dict, model, module; else the dictionary itself); a `module.`
/// or `backbone.` prefix that every tensor carries is stripped; both are said in `notes`. Scalars
/// beside the weights (epoch, arch, metric) go to `metadata`. Nothing in the file is run.
/// Both forms are read: the zip archive, and the stream of PyTorch before 1.6, in which torchvision
/// still publishes its weights.
/// \throws InputError naming file and byte offset: neither form, no tensors, a storage that is
/// missing or too
///         short for its tensor, a dtype that is no weight's, or any fault of the pickle
StoredTensors read_torch_archive(const std::string& path);

/// The same over bytes in memory.
StoredTensors parse_torch_archive(Bytes file, const std::string& path,
                                  std::shared_ptr<const void> owner);

}  // namespace vitascope::weights
