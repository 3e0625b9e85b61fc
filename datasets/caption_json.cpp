#include "datasets/caption_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "vit/error.h"
#include "vit/json_object.h"
#include "vit/text.h"

namespace vitascope::datasets {
namespace {

/// Visits the objects of a list one by one: a list of all would be as large as the file again.
template <typename Visit>
void each_object(const Json& list, const std::string& path, const std::string& name,
                 const Visit& visit) {
  std::size_t number = 0;
  for (const Json& entry : list)
    visit(JsonObject(entry, path, fmt::format("{}[{}].", name, number++)));
}

template <typename Visit>
void each_object(const JsonObject& parent, const char* key, const std::string& name,
                 const Visit& visit) {
  if (!parent.value(key).is_array()) parent.fail(key, "a list");
  each_object(parent.value(key), parent.path(), name, visit);
}

/// An id as text: of a number its digits.
std::string id_of(const JsonObject& entry, const char* key) {
  const Json& id = entry.value(key);
  if (!id.is_number_integer() && !id.is_string()) entry.fail(key, "a whole number or text");
  return id.is_string() ? id.get<std::string>() : id.dump();
}

Split split_of(const JsonObject& image) {
  if (!image.has("split")) return Split::none;
  const std::string word = image.text("split");
  if (word == "train" || word == "restval") return Split::train;
  if (word == "val") return Split::validation;
  if (word == "test") return Split::test;
  image.fail("split", "train, restval, val or test");
}

/// `raw`, or the words of `tokens`.
std::string sentence_of(const JsonObject& sentence) {
  if (sentence.has("raw") || !sentence.has("tokens")) return sentence.text("raw");
  std::string text;
  for (const Json& token : sentence.value("tokens")) {
    if (!token.is_string()) sentence.fail("tokens", "a list of words");
    text.append(text.empty() ? "" : " ").append(token.get_ref<const std::string&>());
  }
  return text;
}

CaptionedImages karpathy_of(const JsonObject& root) {
  CaptionedImages result;
  result.source = "captions that Karpathy split";
  std::size_t rest = 0;
  each_object(root, "images", "images", [&](const JsonObject& image) {
    CaptionedImage& photo = result.photos.emplace_back();
    const std::string folder = image.text("filepath", "");
    const std::string name = image.text("filename");
    photo.path = folder.empty() ? name : fmt::format("{}/{}", folder, name);
    photo.id = image.has("cocoid") ? id_of(image, "cocoid") : name;
    photo.split = split_of(image);
    rest += image.text("split", "") == "restval" ? 1 : 0;
    each_object(image, "sentences", fmt::format("images[{}].sentences", result.photos.size() - 1),
                [&](const JsonObject& s) { photo.captions.push_back(sentence_of(s)); });
  });
  if (rest > 0)
    result.notes.push_back(fmt::format("{} photos of the split 'restval' are for training", rest));
  return result;
}

CaptionedImages coco_of(const JsonObject& root) {
  CaptionedImages result;
  result.source = "captions in COCO's format";
  std::unordered_map<std::string, std::size_t> places;
  each_object(root, "images", "images", [&](const JsonObject& image) {
    CaptionedImage& photo = result.photos.emplace_back();
    photo.id = id_of(image, "id");
    photo.path = image.text("file_name");
    if (!places.emplace(photo.id, places.size()).second)
      image.fail("id", "an id that no entry before it has");
  });
  each_object(root, "annotations", "annotations", [&](const JsonObject& annotation) {
    const auto place = places.find(id_of(annotation, "image_id"));
    if (place == places.end()) annotation.fail("image_id", "an id that stands in 'images'");
    result.photos[place->second].captions.push_back(annotation.text("caption"));
  });
  return result;
}

/// Visits the object of each line; a line is named as "results.json, line 3".
template <typename Visit>
void each_line(std::string_view text, const std::string& path, const Visit& visit) {
  std::size_t number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string place = fmt::format("{}, line {}", path, number);
    const Json json = parse_json(line, place);
    visit(JsonObject(json, place));
  }
}

/// The best caption of a photo, as `caption` writes it.
std::string first_caption(const JsonObject& photo) {
  const Json& captions = photo.value("captions");
  if (!captions.is_array() || captions.empty()) photo.fail("captions", "a list of captions");
  return JsonObject(captions[0], photo.path(), "captions[0].").text("text");
}

constexpr const char* kResults =
    R"(expected COCO's results, a list [{"image_id": 42, "caption": "..."}, ...], or the lines of )"
    "'vitascope caption --format json'";

}  // namespace

CaptionedImages parse_caption_json(const Json& json, const std::string& path) {
  const JsonObject root(json, path);
  const Json& images = root.value("images");
  const bool sentences = images.is_array() && !images.empty() && images[0].is_object() &&
                         images[0].contains("sentences");
  return sentences && !root.has("annotations") ? karpathy_of(root) : coco_of(root);
}

std::vector<CaptionResult> parse_caption_results(std::string_view text, const std::string& path) {
  std::vector<CaptionResult> results;
  std::unordered_set<std::string> seen;
  const auto add = [&](const JsonObject& entry, const char* key, CaptionResult result) {
    if (!seen.insert(result.id).second) entry.fail(key, "one caption for each image");
    results.push_back(std::move(result));
  };
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && text[begin] == '{') {
    each_line(text, path, [&](const JsonObject& photo) {
      if (!photo.has("path")) throw InputError(photo.path(), kResults);
      add(photo, "path",
          {std::filesystem::path(photo.text("path")).filename().string(), first_caption(photo)});
    });
    return results;
  }
  const Json json = parse_json(text, path);
  if (!json.is_array()) throw InputError(path, kResults);
  results.reserve(json.size());
  each_object(json, path, "", [&](const JsonObject& entry) {
    add(entry, "image_id", {id_of(entry, "image_id"), entry.text("caption")});
  });
  return results;
}

}  // namespace vitascope::datasets
