#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vit/image/decode.h"

/// \file
/// Pictures with the names of what they show, whatever kind of data set they come from.
namespace vitascope::datasets {

/// What a picture is for. `none`: the data set does not say.
enum class Split { none, train, validation, test };

/// "train", "validation", "test"; "unsplit" for none.
const char* split_name(Split split);

/// train, training, val, valid, validation, dev, test, testing, in any case; nothing for any other
/// word.
std::optional<Split> parse_split(std::string_view word);

/// Small pictures of one size, as the files of CIFAR and MNIST hold them.
struct StoredPictures {
  image::Size size;
  int channels = 1;                 ///< 1 gray, 3 RGB
  std::vector<std::uint8_t> bytes;  ///< [count, channels, height, width]

  /// Picture `index` as interleaved RGB; gray is repeated.
  image::Picture picture(std::size_t index) const;
};

/// One picture and what it shows.
struct Sample {
  std::string path;                   ///< its file; of a stored picture FILE#NUMBER
  std::optional<std::size_t> stored;  ///< index into the stored pictures; else `path` is decoded
  std::vector<int> labels;  ///< ascending indices into the classes; one where each picture
                            ///< has one label, any number with several
  double weight = 1;        ///< of its loss
  Split split = Split::none;
};

/// A labelled set of pictures.
struct LabelledImages {
  std::string source;                ///< what it was taken for, in words
  std::vector<std::string> classes;  ///< empty: the pictures have no labels
  bool multi_label = false;          ///< a picture may show several classes, or none
  std::vector<Sample> samples;
  std::shared_ptr<const StoredPictures> stored;  ///< null where pictures are files
  std::vector<std::string> notes;                ///< what was left out or looked odd, a line each
};

/// The picture of a sample, upright.
/// \throws InputError when its file is no picture or damaged
image::Picture decode(const LabelledImages& images, const Sample& sample,
                      const image::DecodeOptions& options = {});

/// A sample whose labels are still names.
struct NamedSample {
  Sample sample;
  std::vector<std::string> names;
};

/// Makes all names the classes, in natural order ('10' after '9'), and numbers the samples' labels.
/// A name given twice for one picture counts once.
void number_labels(std::vector<NamedSample> named, LabelledImages& images);

}  // namespace vitascope::datasets
