#pragma once

#include <optional>
#include <string>
#include <vector>

#include "vit/image/specification.h"
#include "vit/model/vision_transformer.h"

/// \file
/// A model as people have it on disk, opened and saved.
namespace vitascope::weights {

/// What may be said when opening; all of it optional.
struct OpenOptions {
  std::string architecture;               ///< for a bare weight file without a configuration
  std::string labels_file;                ///< one label a line, replaces the model's own
  std::string preprocessor_file;          ///< a preprocessor_config.json to use instead
  std::optional<image::Size> input_size;  ///< another input size than the model's own
  at::ScalarType precision = at::kFloat;  ///< kFloat or kBFloat16
  bool pack = false;  ///< weights for inference on the CPU alone: quicker, opaque
};

/// An opened model with all that is known of it.
struct Model {
  model::VisionTransformer network;
  std::optional<image::Specification> specification;  ///< nothing when the files hold none
  std::string
      specification_missing;  ///< then: one line that says what is missing and which flag gives it
  std::vector<std::string> labels;  ///< one a class; plain indices when nothing names them
  std::string label_source;         ///< where the names came from, in words
  std::string name;                 ///< what the person typed
  std::vector<std::string> files;   ///< files that were read
  std::string key_style;            ///< "transformers 4", "timm", ...
  std::string stored_dtype;         ///< "F32", ...
  std::vector<std::string> notes;   ///< decisions worth saying: stripped prefixes, unused tensors
};

/// Opens a model: a transformers or timm directory, a weight file inside one
/// (`DIR/checkpoint-7.pth`), a bare file with `architecture`, an .npz alone, or
/// `org/name[@revision]` in the caches of Hugging Face, timm and torch. \throws InputError in one
/// line that helps: no such model (with the download command), no weight
///         file, two weight files that differ, a missing key, tensors that do not fit
Model open_model(const std::string& model, const OpenOptions& options = {});

/// A model with random weights (seeded), for benchmarks.
/// \throws UsageError naming the nearest architecture when `architecture` is unknown
Model random_model(const std::string& architecture, const OpenOptions& options = {});

/// Whose folder layout is written. `vitascope` is for networks that neither library has; only this
/// program reads it.
enum class Layout { transformers, timm, vitascope };

/// Writes a directory that transformers' from_pretrained, or timm's `local-dir:`, loads back to the
/// same logits.
/// \throws UsageError when the directory exists and `force` is false, or when the layout can't
///         express the model (named); FailureError when writing fails
void save_model(const Model& model, const std::string& directory, Layout layout, bool force);

/// Writes the same files into a folder that exists and may hold others, each replaced as a whole:
/// for a model that gets better while it is trained. Names and shapes stay what they were, so that
/// whatever moment the writing is cut short at, the folder opens.
/// \throws UsageError when the layout can't express the model (named); FailureError when writing
///         fails
void update_model(const Model& model, const std::string& directory, Layout layout);

}  // namespace vitascope::weights
