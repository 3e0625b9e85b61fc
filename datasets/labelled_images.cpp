#include "datasets/labelled_images.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "vit/text.h"

namespace vitascope::datasets {

const char* split_name(Split split) {
  switch (split) {
    case Split::train:
      return "train";
    case Split::validation:
      return "validation";
    case Split::test:
      return "test";
    case Split::none:
      break;
  }
  return "unsplit";
}

std::optional<Split> parse_split(std::string_view word) {
  const std::string lower = lower_case(std::string(word));
  if (lower == "train" || lower == "training") return Split::train;
  if (lower == "val" || lower == "valid" || lower == "validation" || lower == "dev")
    return Split::validation;
  if (lower == "test" || lower == "testing") return Split::test;
  return std::nullopt;
}

image::Picture StoredPictures::picture(std::size_t index) const {
  const std::size_t plane = static_cast<std::size_t>(size.width) * size.height;
  const std::uint8_t* from = bytes.data() + index * plane * channels;
  image::Picture result;
  result.size = result.stored = size;
  result.rgb.resize(plane * 3);
  for (std::size_t c = 0; c < 3; ++c) {
    const std::uint8_t* channel = from + (channels == 3 ? c * plane : 0);
    for (std::size_t i = 0; i < plane; ++i) result.rgb[3 * i + c] = channel[i];
  }
  return result;
}

image::Picture decode(const LabelledImages& images, const Sample& sample,
                      const image::DecodeOptions& options) {
  if (!sample.stored) return image::decode(sample.path, options);
  image::Picture picture = images.stored->picture(*sample.stored);
  picture.path = sample.path;
  return picture;
}

void number_labels(std::vector<NamedSample> named, LabelledImages& images) {
  std::unordered_map<std::string, int> numbers;
  for (const NamedSample& sample : named)
    for (const std::string& name : sample.names) numbers.emplace(name, 0);
  images.classes.clear();
  images.classes.reserve(numbers.size());
  for (const auto& [name, number] : numbers) images.classes.push_back(name);
  std::sort(images.classes.begin(), images.classes.end(), natural_less);
  for (std::size_t i = 0; i < images.classes.size(); ++i)
    numbers[images.classes[i]] = static_cast<int>(i);
  images.samples.reserve(images.samples.size() + named.size());
  for (NamedSample& sample : named) {
    std::vector<int>& labels = sample.sample.labels;
    labels.clear();
    labels.reserve(sample.names.size());
    for (const std::string& name : sample.names) labels.push_back(numbers[name]);
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    images.samples.push_back(std::move(sample.sample));
  }
}

}  // namespace vitascope::datasets
