#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vit/caption/decoder.h"
#include "vit/caption/encoder.h"
#include "vit/caption/vocabulary.h"

/// \file
/// A captioner: a decoder, its words, and through which encoder it sees; a folder of them.
namespace vitascope::caption {

/// The encoder that a decoder was trained with. Its weights are somebody else's and large, so a
/// captioner's folder names them.
struct EncoderReference {
  std::string name;                    ///< Encoder::name(): "efficientnet_lite0"
  std::string path;                    ///< where it lay
  std::string checksum;                ///< CRC-32 of its weight files, eight hexadecimal digits
  std::int64_t stride = 0;             ///< EncoderOptions::stride
  std::optional<image::Size> input{};  ///< EncoderOptions::input_size
  bool whole_photo = false;            ///< EncoderOptions::whole_photo
};

/// Photos' features -> sentences.
struct Captioner {
  Decoder decoder;
  Vocabulary vocabulary;
  EncoderReference encoder;
  std::int64_t rows = 0, columns = 0;  ///< of the grid that it learned from
};

/// What an encoder is to those that are trained with it.
/// \throws InputError when its files can't be read
EncoderReference reference_to(const Encoder& encoder, const std::string& path,
                              const EncoderOptions& options);

/// Writes config.json, vocabulary.json and decoder.safetensors into a folder that exists, each as a
/// whole, over what is there.
/// \throws FailureError when writing fails
void save_captioner(const Captioner& captioner, const std::string& folder);

/// \throws InputError: a file is missing, damaged, or doesn't fit the others
Captioner open_captioner(const std::string& folder);

/// Where the encoder lies: at `instead`, else among the captioner's own files (encoder.safetensors,
/// encoder.pth or a folder `encoder`), else where it lay when the captioner was trained.
/// \throws UsageError when it is nowhere
std::string encoder_place(const Captioner& captioner, const std::string& folder,
                          const std::string& instead);

/// Opens the encoder that lies there.
/// \throws UsageError when it is nowhere, or other weights lie there; InputError as open_encoder
Encoder open_encoder_of(const Captioner& captioner, const std::string& folder,
                        const std::string& instead);

}  // namespace vitascope::caption
