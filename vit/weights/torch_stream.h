#pragma once

#include <string>

#include "vit/weights/pickle.h"
#include "vit/weights/torch_storage.h"

/// \file
/// torch.save's format before PyTorch 1.6: five pickles (a magic number, the protocol, the machine,
/// the object, the keys of its storages), then the storages, each behind its number of elements.
namespace vitascope::weights {

/// Such a file, its storages not yet read. Valid while the file's bytes are.
struct TorchStream {
  PicklePtr root;            ///< the object that was saved
  TorchStorages::Find find;  ///< its storages
};

/// Whether a file begins with the magic number.
bool is_torch_stream(Bytes file);

/// \throws InputError naming file and byte offset: any fault of the pickles, a big-endian machine,
/// a
///         storage of unknown element type or of another size than the object says, or cut short
TorchStream parse_torch_stream(Bytes file, const std::string& path);

}  // namespace vitascope::weights
