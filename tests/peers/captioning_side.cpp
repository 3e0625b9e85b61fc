// What compare_captioning.py asks of the program's decoder, which no command gives without an
// encoder. ANNOTATIONS.safetensors holds `annotations` [B, rows, columns, D]:
//   captioning_side write CAPTIONER ANNOTATIONS OUT.safetensors   the best sentence of each photo
//   captioning_side time CAPTIONER ANNOTATIONS BATCH REPEATS      milliseconds of each search
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "tests/peers/repeats.h"
#include "vit/caption/captioner.h"
#include "vit/caption/captioning.h"
#include "vit/weights/safetensors.h"
#include "vit/weights/tensor_assembly.h"
#include "vit/weights/tensor_file.h"

namespace vitascope {
namespace {

/// Plain for one photo, as `vitascope caption` has it, which takes one after the other; packed for
/// many, as `vitascope train-captioner` has it for its validation.
caption::Decoder open_decoder(const std::string& folder, std::int64_t photos) {
  caption::Decoder decoder = caption::open_captioner(folder).decoder;
  if (photos > 1) decoder.pack();
  return decoder;
}

caption::Annotations read_annotations(const std::string& file) {
  const weights::StoredTensors stored = weights::read_safetensors(file);
  const at::Tensor grid = weights::view_of(stored.tensors.at("annotations")).clone();
  return {grid.flatten(1, 2), grid.size(1), grid.size(2)};
}

std::vector<std::vector<caption::Caption>> captions(const caption::Decoder& decoder,
                                                    const caption::Annotations& annotations) {
  caption::BeamOptions options;
  options.beam = 3;
  options.rules.longest = 20;
  return caption::captions_of(decoder, annotations, options);
}

int write_captions(const std::vector<std::string>& words) {
  std::vector<at::Tensor> tokens, log_probs, looked;
  const caption::Annotations annotations = read_annotations(words[2]);
  const caption::Decoder decoder = open_decoder(words[1], annotations.values.size(0));
  for (const auto& of_photo : captions(decoder, annotations)) {
    tokens.push_back(at::tensor(of_photo.front().sentence.tokens, at::kLong));
    log_probs.push_back(at::tensor(of_photo.front().sentence.log_probs, at::kDouble));
    looked.push_back(of_photo.front().weights);
  }
  weights::write_tensors(words[3],
                         {{"tokens", at::stack(tokens)},
                          {"log_probs", at::stack(log_probs)},
                          {"weights", at::stack(looked)}},
                         {}, true);
  return 0;
}

int time_captions(const std::vector<std::string>& words) {
  const std::int64_t photos = std::stol(words[3]);
  const caption::Decoder decoder = open_decoder(words[1], photos);
  caption::Annotations annotations = read_annotations(words[2]);
  annotations.values = annotations.values.narrow(0, 0, photos).contiguous();
  print_milliseconds(std::stoi(words[4]), [&] { captions(decoder, annotations); });
  return 0;
}

}  // namespace
}  // namespace vitascope

int main(int count, char** begin) {
  const std::vector<std::string> words(begin + 1, begin + count);
  const c10::InferenceMode guard;
  if (const char* threads = std::getenv("OMP_NUM_THREADS")) at::set_num_threads(std::atoi(threads));
  try {
    if (words.size() == 4 && words[0] == "write") return vitascope::write_captions(words);
    if (words.size() == 5 && words[0] == "time") return vitascope::time_captions(words);
    std::cerr << "captioning_side: expected 'write CAPTIONER ANNOTATIONS OUT' or 'time CAPTIONER "
                 "ANNOTATIONS BATCH REPEATS'\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "captioning_side: " << error.what() << '\n';
    return 1;
  }
}
