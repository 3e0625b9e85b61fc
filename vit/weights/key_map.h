#pragma once

#include <map>
#include <string>
#include <vector>

#include "vit/model/config.h"
#include "vit/weights/key_names.h"
#include "vit/weights/stored_tensors.h"

/// \file
/// From stored tensors to parameters: which become which, and that none is left over or lacking.
namespace vitascope::weights {

/// The style that the names show.
/// \throws InputError that lists the first few names when they fit none
KeyStyle detect_key_style(const StoredTensors& tensors, const std::string& path);

/// Canonical name -> stored name of every tensor.
/// \throws InputError when two stored tensors have the same canonical name
std::map<std::string, std::string> canonical_names(const StoredTensors& tensors, KeyStyle style,
                                                   const std::string& path);

/// How one of our parameters is made of stored tensors.
struct Assignment {
  enum class How {
    as_is,        ///< same elements in the same order, viewed in our shape
    concatenate,  ///< sources below each other: q, k, v -> qkv; gate, up -> fc1
    transpose,    ///< JAX dense kernels [in, out] -> [out, in], each source, then concatenate
    hwio          ///< JAX convolution kernel [h, w, in, out] -> [out, in, h, w]
  };
  std::string parameter;             ///< timm's name
  std::vector<std::int64_t> shape;   ///< our shape
  std::vector<std::string> sources;  ///< stored names
  How how = How::as_is;
};

/// Accounts for every tensor: each parameter of `config` has its sources, and each stored tensor is
/// used or is known to be unused (mask_token, a pooler, MAE's decoder, ...; noted in `notes`).
/// \throws InputError that lists the first few missing, extra or wrongly shaped tensors with
///         expected and found shapes
std::vector<Assignment> map_keys(const StoredTensors& tensors, const model::Config& config,
                                 KeyStyle style, const std::string& path,
                                 std::vector<std::string>& notes);

}  // namespace vitascope::weights
