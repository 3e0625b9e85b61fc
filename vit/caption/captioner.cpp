#include "vit/caption/captioner.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "vit/caption/decoder_weights.h"
#include "vit/checksum.h"
#include "vit/error.h"
#include "vit/json_object.h"
#include "vit/text.h"
#include "vit/weights/safetensors.h"
#include "vit/weights/tensor_assembly.h"
#include "vit/weights/tensor_file.h"

namespace vitascope::caption {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";
constexpr const char* kVocabulary = "vocabulary.json";
constexpr const char* kDecoder = "decoder.safetensors";
constexpr const char* kType = "vitascope_captioner";
constexpr int kLongestEdge = 1 << 14;

std::string in(const std::string& folder, const char* file) { return folder + "/" + file; }

std::string checksum_of(const std::vector<std::string>& files) {
  std::uint32_t sum = 0;
  for (const std::string& file : files) sum = crc32_of(MappedFile::open(file)->bytes(), sum);
  return fmt::format("{:08x}", sum);
}

EncoderReference encoder_from_json(const JsonObject& json) {
  EncoderReference encoder;
  encoder.name = json.text("name");
  encoder.path = json.text("path");
  encoder.checksum = json.text("checksum");
  encoder.stride = json.integer("stride", 0, kLongestEdge);
  if (json.has("input_size")) {
    const auto [height, width] = json.pair("input_size", 1, kLongestEdge);
    encoder.input = image::Size{.width = width, .height = height};
  }
  encoder.whole_photo = json.boolean("whole_photo", false);
  return encoder;
}

Json to_json(const EncoderReference& encoder) {
  Json json{{"name", encoder.name},
            {"path", encoder.path},
            {"checksum", encoder.checksum},
            {"stride", encoder.stride},
            {"whole_photo", encoder.whole_photo}};
  if (encoder.input) json["input_size"] = {encoder.input->height, encoder.input->width};
  return json;
}

}  // namespace

EncoderReference reference_to(const Encoder& encoder, const std::string& path,
                              const EncoderOptions& options) {
  return {.name = encoder.name(),
          .path = fs::absolute(path).lexically_normal().string(),
          .checksum = checksum_of(encoder.files),
          .stride = options.stride,
          .input = options.input_size,
          .whole_photo = options.whole_photo};
}

void save_captioner(const Captioner& captioner, const std::string& folder) {
  const Json config{{"model_type", kType},
                    {"decoder", to_json(captioner.decoder.config())},
                    {"encoder", to_json(captioner.encoder)},
                    {"grid", {captioner.rows, captioner.columns}}};
  captioner.vocabulary.save(in(folder, kVocabulary), /*force=*/true);
  write_file(in(folder, kConfig), /*force=*/true, config.dump(2) + "\n");
  weights::write_tensors(in(folder, kDecoder), tensors_of(captioner.decoder), {}, /*force=*/true);
}

Captioner open_captioner(const std::string& folder) {
  if (!fs::exists(in(folder, kConfig))) {
    throw InputError(folder, fmt::format("holds no {}: expected the folder of a captioner, as "
                                         "'vitascope train-captioner' writes it",
                                         kConfig));
  }
  const Json json = read_json(in(folder, kConfig));
  const JsonObject config(json, in(folder, kConfig));
  if (const std::string type = config.text("model_type", ""); type != kType) {
    config.fail("model_type", fmt::format("{}: a captioner, as 'vitascope "
                                          "train-captioner' writes it",
                                          kType));
  }
  const DecoderConfig decoder = decoder_from_json(config.value("decoder"), config.path());
  Vocabulary vocabulary = Vocabulary::open(in(folder, kVocabulary));
  if (vocabulary.size() != decoder.vocabulary) {
    throw InputError(in(folder, kVocabulary),
                     fmt::format("holds {} words, but the decoder says {}: they are of two "
                                 "captioners",
                                 vocabulary.size(), decoder.vocabulary));
  }
  const std::string path = in(folder, kDecoder);
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [name, stored] : weights::read_safetensors(path).tensors) {
    tensors.emplace(name, weights::view_of(stored));
  }
  const auto [rows, columns] = config.pair("grid", 1, kLongestEdge);
  return {.decoder = decoder_of(decoder, tensors, path),
          .vocabulary = std::move(vocabulary),
          .encoder = encoder_from_json(config.object("encoder")),
          .rows = rows,
          .columns = columns};
}

std::string encoder_place(const Captioner& captioner, const std::string& folder,
                          const std::string& instead) {
  if (!instead.empty()) return instead;
  for (const char* name : {"encoder.safetensors", "encoder.pth", "encoder"}) {
    if (fs::exists(in(folder, name))) return in(folder, name);
  }
  const EncoderReference& wanted = captioner.encoder;
  if (fs::exists(wanted.path)) return wanted.path;
  throw UsageError(
      fmt::format("the encoder {} is neither in {} nor at {}: --encoder says where its weights are",
                  wanted.name, printable(folder), printable(wanted.path)));
}

Encoder open_encoder_of(const Captioner& captioner, const std::string& folder,
                        const std::string& instead) {
  const EncoderReference& wanted = captioner.encoder;
  const std::string place = encoder_place(captioner, folder, instead);
  Encoder encoder = open_encoder(
      place,
      {.input_size = wanted.input, .whole_photo = wanted.whole_photo, .stride = wanted.stride});
  const std::string checksum = checksum_of(encoder.files);
  if (checksum != wanted.checksum) {
    throw UsageError(fmt::format(
        "{} holds a {} with weights {}, but the captioner learned through a {} with weights {}: "
        "--encoder says where those are",
        printable(place), encoder.name(), checksum, wanted.name, wanted.checksum));
  }
  return encoder;
}

}  // namespace vitascope::caption
