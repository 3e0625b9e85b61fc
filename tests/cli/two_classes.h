#pragma once

#include <string>

#include "tests/cli/run_program.h"
#include "tests/golden.h"

/// \file
/// Labelled photos for runs of training.
namespace vitascope::tests {

/// A table of two classes: four photos of each for training, two for validation.
inline std::string two_classes(const TemporaryFolder& folder) {
  std::string text = "path,label,split\n";
  for (int i = 0; i < 6; ++i) {
    const char* split = i < 4 ? "train" : "val";
    text += golden("images/rgb.png") + ",red cat," + split + "\n";
    text += golden("images/gray.jpg") + ",grey cup," + split + "\n";
  }
  return folder.write("labels.csv", text);
}

}  // namespace vitascope::tests
