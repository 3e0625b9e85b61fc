#pragma once

#include <string>
#include <vector>

/// \file
/// What a person typed as a model -> the files that make it up. Nothing is fetched.
namespace vitascope::weights {

/// The files of a model. Empty: there is none.
struct ModelFiles {
  std::string config;                ///< config.json
  std::string preprocessor;          ///< preprocessor_config.json
  std::vector<std::string> weights;  ///< weight files, the preferred one first; never empty
  std::string folder;                ///< the folder that they lie in
  std::vector<std::string> notes;    ///< how it was found, where that is worth saying
};

/// Finds a model: a folder, a weight file, or `org/name[@revision]` and timm's names in the caches
/// of Hugging Face ($HF_HUB_CACHE, $HF_HOME/hub, ~/.cache/huggingface/hub) and torch
/// ($TORCH_HOME/hub/checkpoints, ~/.cache/torch/hub/checkpoints).
/// \throws InputError in one line that helps: nothing of that name (with the command that downloads
///         it), a folder that holds no model (with what it holds), a file that is no weight file
ModelFiles locate_model(const std::string& model);

/// Whether a weight file has a name that libraries look for: model.safetensors, pytorch_model.bin,
/// and their indices.
bool is_usual_name(const std::string& path);

}  // namespace vitascope::weights
