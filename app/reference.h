#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "kernels/attention.h"
#include "vit/model/vision_transformer.h"
#include "vit/weights/stored_tensors.h"

/// \file
/// A reference file (what Python gave for some pixels) and how far our own values are from it.
namespace vitascope::app {

/// pixel_values [B, 3, H, W] and, each if it likes, logits [B, classes], hidden_states.i [B, N, C],
/// attentions.i [B, H, N, N], last_hidden_state [B, N, C], pooled or features [B, F].
struct Reference {
  std::string path;
  weights::StoredTensors stored;
  std::int64_t batch = 0, height = 0, width = 0;  ///< of pixel_values
  std::vector<std::string> images;  ///< metadata `images`, found relative to the file; may be empty

  /// Rows [first, first + count) of a tensor as float32; copied, since a file's bytes may lie
  /// unaligned. Undefined when the file has no such tensor.
  at::Tensor rows(const std::string& name, std::int64_t first, std::int64_t count) const;
};

/// \throws InputError when the file is no reference: no pixel_values, a wrong shape, integers
Reference read_reference(const std::string& path);

/// How far one tensor of the reference is from ours.
struct TensorComparison {
  std::string name;
  std::vector<std::int64_t> shape;  ///< as in the reference
  double largest = 0;               ///< largest |ours - reference|; NaN when either holds one
  double mean = 0;                  ///< mean |ours - reference|
  double allowed = 0;               ///< tolerance * max(1, largest |reference|)
  std::string mismatch;             ///< set when they can't be compared: why
  bool passed() const { return mismatch.empty() && largest <= allowed; }
};

/// Every comparable tensor in the order in which the network computes them.
struct Verification {
  std::vector<TensorComparison> comparisons;
  std::vector<std::string> not_compared;  ///< names in the file that say nothing of the forward

  bool passed() const;
  /// The first that did not pass, or null.
  const TensorComparison* first_parting() const;
};

/// How verify_outputs runs and judges.
struct VerifyOptions {
  kernels::Backend backend = kernels::Backend::automatic;
  double tolerance = 2e-5;  ///< relative to max(1, largest |reference|) of each tensor
  std::int64_t batch = 8;   ///< photos a forward pass, which bounds the memory
};

/// Runs the file's pixel_values through the network. Attention probabilities are recomputed from
/// the traced queries and keys, one layer at a time.
/// \throws InputError when the network can't take pixels of that size
Verification verify_outputs(const model::VisionTransformer& network, const Reference& reference,
                            const VerifyOptions& options);

/// What to look at when `name` is the first tensor that parts: "the attention of block 3: ...".
std::string explain_parting(const std::string& name);

}  // namespace vitascope::app
