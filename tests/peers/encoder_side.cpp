// What compare_encoders.py asks of the program's encoders, which no command gives alone:
//   encoder_side features ENCODER OUT.safetensors PHOTO...   prepared pixels and their features
//   encoder_side time ENCODER BATCH REPEATS                  milliseconds of each forward pass
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "tests/peers/repeats.h"
#include "vit/caption/encoder.h"
#include "vit/image/decode.h"
#include "vit/image/preprocess.h"
#include "vit/weights/tensor_file.h"

namespace vitascope {
namespace {

int write_features(const std::vector<std::string>& words) {
  const caption::Encoder encoder = caption::open_encoder(words[1]);
  std::vector<at::Tensor> pixels;
  for (std::size_t i = 3; i < words.size(); ++i) {
    pixels.push_back(image::prepare(image::decode(words[i]), encoder.specification()).pixels);
  }
  const at::Tensor batch = at::stack(pixels);
  const caption::Annotations annotations = encoder.annotate(batch);
  weights::write_tensors(words[2], {{"pixels", batch}, {"features", annotations.values}}, {}, true);
  return 0;
}

int time_forward(const std::vector<std::string>& words) {
  const caption::Encoder encoder = caption::open_encoder(words[1]);
  at::manual_seed(1);
  const at::Tensor pixels = at::randn({std::stol(words[2]), 3, 224, 224});
  print_milliseconds(std::stoi(words[3]), [&] { encoder.annotate(pixels); });
  return 0;
}

}  // namespace
}  // namespace vitascope

int main(int count, char** begin) {
  const std::vector<std::string> words(begin + 1, begin + count);
  const c10::InferenceMode guard;
  if (const char* threads = std::getenv("OMP_NUM_THREADS")) at::set_num_threads(std::atoi(threads));
  try {
    if (words.size() > 3 && words[0] == "features") return vitascope::write_features(words);
    if (words.size() == 4 && words[0] == "time") return vitascope::time_forward(words);
    std::cerr << "encoder_side: expected 'features ENCODER OUT PHOTO...' or 'time ENCODER BATCH "
                 "REPEATS'\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "encoder_side: " << error.what() << '\n';
    return 1;
  }
}
