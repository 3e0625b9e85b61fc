#include "app/report/caption_page.h"

#include <fmt/format.h>

#include "app/report/packed_maps.h"
#include "app/report/page.h"
#include "app/report/page_json.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app::report {
namespace {

Json words(const WrittenCaption& caption, std::size_t cells) {
  Json list = Json::array();
  for (const WrittenWord& word : caption.words) {
    Json entry = {{"text", printable(word.text)}, {"log_prob", word.log_prob}};
    if (word.place) {
      if (*word.place < 0 || static_cast<std::size_t>(*word.place) >= cells) {
        throw InternalError(fmt::format("report: a word took place {} of {}", *word.place, cells));
      }
      entry["place"] = *word.place;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

Json captions(const CaptionedPhoto& photo, std::size_t cells) {
  if (photo.captions.empty()) throw InternalError("report: " + photo.name + " has no caption");
  Json list = Json::array();
  for (const WrittenCaption& caption : photo.captions) {
    if (caption.weights.size() != caption.words.size() * cells) {
      throw InternalError(fmt::format("report: a caption of {} words holds {} weights, expected {}",
                                      caption.words.size(), caption.weights.size(),
                                      caption.words.size() * cells));
    }
    list.push_back({{"text", printable(caption.text)},
                    {"log_prob", caption.log_prob},
                    {"score", caption.score},
                    {"finished", caption.finished},
                    {"words", words(caption, cells)},
                    {"maps", packed(caption.weights, cells, "a caption")}});
  }
  return list;
}

Json texts(const std::vector<std::string>& lines) {
  Json list = Json::array();
  for (const std::string& line : lines) list.push_back(printable(line));
  return list;
}

}  // namespace

std::string render(const CaptionPage& page) {
  const auto cells = static_cast<std::size_t>(page.rows) * static_cast<std::size_t>(page.columns);
  Json photos = Json::array();
  for (const CaptionedPhoto& photo : page.photos) {
    photos.push_back({{"name", printable(photo.name)},
                      {"jpeg", base64(photo.jpeg)},
                      {"size", {photo.size.width, photo.size.height}},
                      {"cell", rectangle(photo.cell)},
                      {"seen", rectangle(photo.seen)},
                      {"captions", captions(photo, cells)}});
  }
  const Json content = {{"title", printable(page.title)},
                        {"facts", texts(page.facts)},
                        {"grid", {page.rows, page.columns}},
                        {"photos", std::move(photos)},
                        {"notes", texts(page.notes)}};
  std::string text(kCaptionPage[0]);
  text += for_script(content);
  text += kCaptionPage[1];
  return text;
}

}  // namespace vitascope::app::report
