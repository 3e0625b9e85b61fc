#pragma once

#include <string>

#include "vit/weights/model_directory.h"

/// \file
/// How a saved model is used: lines for a shell and for Python.
namespace vitascope::app {

/// What the lines depend on.
struct ModelUse {
  std::string folder;  ///< as the lines name it
  weights::Layout layout = weights::Layout::transformers;
  bool fits_timm = false;  ///< can be converted to timm's layout
  bool multi_label = false;
};

/// The section "Use" of a model card, in Markdown.
std::string use_section(const ModelUse& use);

/// `text` as one word of a POSIX shell.
std::string shell_word(const std::string& text);

}  // namespace vitascope::app
