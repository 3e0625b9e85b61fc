#pragma once

#include <optional>
#include <string>

/// \file
/// Where Python's libraries keep what they have downloaded.
namespace vitascope::weights {

/// `org/name` and perhaps `@revision`.
struct Repository {
  std::string id;        ///< "google/vit-base-patch16-224"
  std::string revision;  ///< "main" unless said
};

/// The repository that a text names, or nothing when it has not the form of one.
std::optional<Repository> parse_repository(const std::string& text);

/// The folder of Hugging Face's cache: $HF_HUB_CACHE, $HUGGINGFACE_HUB_CACHE, $HF_HOME/hub,
/// $XDG_CACHE_HOME/huggingface/hub or ~/.cache/huggingface/hub.
std::string hugging_face_cache();

/// The snapshot of a revision (a branch, a tag or a commit) in that cache, or nothing.
std::optional<std::string> cached_snapshot(const Repository& repository);

/// A file of torch.hub's cache ($TORCH_HOME/hub/checkpoints, $XDG_CACHE_HOME/torch/..., or
/// ~/.cache/torch/...), or nothing.
std::optional<std::string> cached_checkpoint(const std::string& file);

/// "hf download org/name", for messages.
std::string download_command(const Repository& repository);

}  // namespace vitascope::weights
