#pragma once

#include <optional>
#include <string>

#include "vit/caption/cnn.h"
#include "vit/weights/stored_tensors.h"

/// \file
/// State dicts of torchvision, and of others that are told by their tensors' names -> networks.
namespace vitascope::caption {

/// The network whose parameters a file holds, or nothing when their names are no CNN's that is
/// known. Heads are left away. Parameters that lie in the file as float32 stay views of it.
/// \param path for messages
/// \throws InputError naming the tensor: missing, of another shape than its place asks for, or one
///         that the network recognised doesn't have
std::optional<Cnn> read_cnn(const weights::StoredTensors& tensors, const std::string& path);

}  // namespace vitascope::caption
