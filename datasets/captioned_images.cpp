#include "datasets/captioned_images.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "datasets/caption_json.h"
#include "datasets/caption_text.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::datasets {
namespace {

constexpr const char* kSpace = " \t\r\n\f\v";

void trim(std::string& text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string::npos) return text.clear();
  text.erase(text.find_last_not_of(kSpace) + 1);
  text.erase(0, begin);
}

void require_utf8(std::string_view text, const std::string& path) {
  std::size_t line = 1;
  while (!text.empty()) {
    const auto point = decode_utf8(text);
    if (!point)
      throw InputError(path, fmt::format("line {}: the byte 0x{:02X} is not UTF-8; 'iconv -f "
                                         "latin1 -t utf8' converts what older programs wrote",
                                         line, static_cast<unsigned char>(text.front())));
    if (point->value == '\n') ++line;
    text.remove_prefix(point->length);
  }
}

bool is_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

CaptionedImages parse_any(std::string_view text, const std::string& path) {
  if (text.find_first_not_of(kSpace) == std::string_view::npos)
    throw InputError(path, "is empty; expected captions");
  if (is_json(text)) return parse_caption_json(parse_json(text, path), path);
  require_utf8(text, path);
  if (is_token_file(text)) return parse_token_file(text, path);
  if (is_caption_table(text)) return parse_caption_table(text, path);
  throw InputError(path,
                   "begins like no file of captions: expected Flickr8k's 'image.jpg#0', a tab "
                   "and a caption; a line of column names, as 'image,caption'; or JSON of "
                   "COCO or Karpathy");
}

/// The same photos, each path once, captions joined; returns those that stood there again.
std::vector<std::string> join_photos(CaptionedImages& images) {
  std::vector<std::string> repeated;
  std::unordered_map<std::string, std::size_t> places;
  places.reserve(images.photos.size());
  std::vector<CaptionedImage> joined;
  joined.reserve(images.photos.size());
  for (CaptionedImage& photo : images.photos) {
    const auto [place, is_new] = places.emplace(photo.path, joined.size());
    if (is_new) {
      joined.push_back(std::move(photo));
      continue;
    }
    std::vector<std::string>& captions = joined[place->second].captions;
    std::move(photo.captions.begin(), photo.captions.end(), std::back_inserter(captions));
    repeated.push_back(std::move(photo.path));
  }
  images.photos = std::move(joined);
  return repeated;
}

/// Takes out what says nothing.
void drop_empty(CaptionedImages& images) {
  std::size_t captions = 0;
  std::vector<std::string> of, without;
  for (CaptionedImage& photo : images.photos) {
    for (std::string& caption : photo.captions) trim(caption);
    const std::size_t empty = std::erase(photo.captions, "");
    captions += empty;
    if (empty > 0) of.push_back(photo.path);
    if (photo.captions.empty()) without.push_back(photo.path);
  }
  std::erase_if(images.photos, [](const CaptionedImage& photo) { return photo.captions.empty(); });
  if (captions > 0)
    images.notes.push_back(
        fmt::format("{} empty captions are left out, of {}", captions, first_few(of)));
  if (!without.empty())
    images.notes.push_back(fmt::format("{} photos without a caption are left out: {}",
                                       without.size(), first_few(without)));
}

}  // namespace

std::vector<std::size_t> photos_of(const CaptionedImages& images, Split split) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < images.photos.size(); ++i)
    if (images.photos[i].split == split) indices.push_back(i);
  return indices;
}

std::string first_few(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> shown;
  shown.reserve(kShown);
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i)
    shown.push_back(printable(names[i]));
  const std::string list = fmt::format("{}", fmt::join(shown, ", "));
  return names.size() <= kShown ? list : fmt::format("{} and {} more", list, names.size() - kShown);
}

CaptionedImages parse_captions(std::string_view text, const std::string& path) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  CaptionedImages images = parse_any(text, path);
  const std::vector<std::string> repeated = join_photos(images);
  // In text a photo stands once for each caption; in JSON that is odd.
  if (is_json(text) && !repeated.empty())
    images.notes.push_back(
        fmt::format("{} entries are of a photo that another entry has too, and joined with it: {}",
                    repeated.size(), first_few(repeated)));
  drop_empty(images);
  if (images.photos.empty()) throw InputError(path, "holds no caption");
  return images;
}

}  // namespace vitascope::datasets
