#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/run_program.h"
#include "tests/golden.h"

/// \file
/// Captioned photos that a small captioner learns by heart.
namespace vitascope::tests {

/// Two photos for learning and copies of them for validation, as Karpathy splits them; or more
/// copies of the two, half of them for learning.
inline std::string tiny_captions(const TemporaryFolder& folder, int photos = 4) {
  std::filesystem::create_directories(folder / "photos");
  nlohmann::json json;
  const char* texts[] = {"A red wall.", "a gray cup on a table"};
  for (int i = 0; i < photos; ++i) {
    const std::string name = std::to_string(i) + (i % 2 == 0 ? ".png" : ".jpg");
    std::filesystem::copy_file(golden(i % 2 == 0 ? "images/rgb.png" : "images/gray.jpg"),
                               folder / ("photos/" + name),
                               std::filesystem::copy_options::overwrite_existing);
    json["images"].push_back({{"filename", name},
                              {"split", i < photos / 2 ? "train" : "val"},
                              {"sentences", {{{"raw", texts[i % 2]}}}}});
  }
  return folder.write("captions.json", json.dump());
}

/// `train-captioner` on them, through a tiny vision transformer.
inline std::vector<std::string> train_tiny_captioner(const TemporaryFolder& folder,
                                                     const std::string& output,
                                                     const std::vector<std::string>& more = {}) {
  std::vector<std::string> all{"train-captioner",
                               "--data",
                               tiny_captions(folder),
                               "--photos",
                               folder / "photos",
                               "--encoder",
                               golden("models/hf-vit"),
                               "--output",
                               output,
                               "--min-count",
                               "1",
                               "--hidden-size",
                               "24",
                               "--embedding-size",
                               "12",
                               "--attention-size",
                               "12",
                               "--threads",
                               "1",
                               "--dropout",
                               "0",
                               "--lr",
                               "0.01"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace vitascope::tests
