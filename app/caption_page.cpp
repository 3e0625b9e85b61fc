#include "app/caption_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/drawing/write_picture.h"
#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

/// Most photos of a page: with theirs of about 0.1 MB each, browsers open it still.
constexpr std::size_t kMostPhotos = 1000;
/// There may be many photos on the page, none larger than half a screen.
constexpr int kLongestSide = 900;

std::string attention_text(const caption::DecoderConfig& config) {
  const caption::AlignmentConfig& alignment = config.alignment;
  std::string text = config.kind == caption::DecoderKind::transformer
                         ? "attention of a transformer's last layer"
                         : fmt::format("{} attention", attention_name(config.attention));
  text += alignment.score == caption::Score::multi_head
              ? fmt::format(", mean of {} heads", alignment.heads)
              : fmt::format(", {} score", score_name(alignment.score));
  if (alignment.reach != caption::Reach::global)
    text += fmt::format(", {} window", reach_name(alignment.reach));
  return text;
}

/// "run" of "models/run/".
std::string folder_name(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::absolute(folder + "/").lexically_normal();
  return path.parent_path().filename().string();
}

report::WrittenCaption written(const CaptionText& caption) {
  report::WrittenCaption result{.text = caption.text,
                                .words = {},
                                .weights = {},
                                .log_prob = caption.log_prob,
                                .score = caption.score,
                                .finished = caption.finished};
  for (const CaptionWord& word : caption.words) {
    result.words.push_back({word.text, word.log_prob, word.place});
    result.weights.insert(result.weights.end(), word.weights.begin(), word.weights.end());
  }
  return result;
}

}  // namespace

void check_caption_page(const std::string& path, bool force, std::size_t photos) {
  if (path.empty()) return;
  if (photos > kMostPhotos) {
    throw UsageError(
        fmt::format("--html is a page of at most {} photos, and there are {}: more are slow to "
                    "open; name fewer",
                    kMostPhotos, photos));
  }
  check_writable(path, force);
}

report::CaptionPage caption_page(const std::string& folder, const caption::Captioner& captioner,
                                 const image::Specification& specification) {
  report::CaptionPage page;
  page.rows = static_cast<int>(captioner.rows);
  page.columns = static_cast<int>(captioner.columns);
  page.facts = {folder_name(folder), "sees through " + captioner.encoder.name,
                attention_text(captioner.decoder.config()),
                fmt::format("{} × {} places", page.rows, page.columns),
                image::describe(specification)};
  if (captioner.decoder.config().attention == caption::Attention::hard) {
    page.notes.emplace_back(
        "Attention is hard: a word saw the outlined place alone, and colours are how likely each "
        "place was.");
  }
  page.notes.emplace_back("A map shows where a word looked, not why it was written.");
  return page;
}

report::CaptionedPhoto captioned_photo(const image::Picture& photo, const PhotoCaptions& captions) {
  report::CaptionedPhoto result{.name = std::string(name_in_folder(captions.path)),
                                .jpeg = drawing::photo_jpeg(photo, kLongestSide),
                                .size = photo.size,
                                .cell = captions.view.cell(0, 0, captions.rows, captions.columns),
                                .seen = captions.view.seen(),
                                .captions = {}};
  result.captions.reserve(captions.captions.size());
  for (const CaptionText& caption : captions.captions) {
    report::WrittenCaption one = written(caption);
    if (!std::ranges::all_of(one.weights, [](float weight) { return std::isfinite(weight); })) {
      throw InputError(captions.path, "the attention gives no finite numbers here");
    }
    result.captions.push_back(std::move(one));
  }
  return result;
}

std::string write_caption_page(const std::string& path, report::CaptionPage page, bool force) {
  const std::size_t count = page.photos.size();
  page.title = "Where the words looked: " +
               (count == 1 ? page.photos.front().name : fmt::format("{} photos", count));
  const std::string text = report::render(page);
  write_file(path, force, text);
  return fmt::format("{}: {} photo{}, {}", path, count, count == 1 ? "" : "s",
                     byte_count(text.size()));
}

}  // namespace vitascope::app
