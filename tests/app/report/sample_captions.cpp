#include "tests/app/report/sample_captions.h"

#include <cmath>
#include <initializer_list>

#include "tests/app/report/sample_report.h"

namespace vitascope::tests {
namespace {

using app::report::CaptionedPhoto;
using app::report::CaptionPage;
using app::report::WrittenCaption;
using app::report::WrittenWord;

constexpr int kSide = 14;

/// A word, and the place around which it looks; the whole photo alike where `width` is 0.
struct Look {
  const char* word;
  double log_prob;
  int row, column;
  double width;
};

void append_weights(std::vector<float>& weights, const Look& look) {
  std::vector<double> map;
  double sum = 0;
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      const double away = std::pow(row - look.row, 2) + std::pow(column - look.column, 2);
      map.push_back(look.width == 0 ? 1 : 0.02 + std::exp(-away / (2 * look.width * look.width)));
      sum += map.back();
    }
  }
  for (const double weight : map) weights.push_back(static_cast<float>(weight / sum));
}

WrittenCaption caption(std::initializer_list<Look> looks, double score) {
  WrittenCaption result;
  for (const Look& look : looks) {
    result.words.push_back({look.word, look.log_prob});
    append_weights(result.weights, look);
    result.log_prob += look.log_prob;
    if (result.words.back().text == "<end>") {
      result.finished = true;
    } else {
      result.text += (result.text.empty() ? "" : " ") + result.words.back().text;
    }
  }
  result.score = score;
  return result;
}

CaptionedPhoto photo(std::vector<WrittenCaption> captions, bool cropped) {
  CaptionedPhoto result;
  result.name = "pets/chelsea.png";
  result.jpeg = sample_jpeg();
  result.size = {451, 300};
  result.seen = cropped ? image::Rectangle{90.5, 15, 360.5, 285} : image::Rectangle{0, 0, 451, 300};
  result.cell = {result.seen.left, result.seen.top,
                 result.seen.left + (result.seen.right - result.seen.left) / kSide,
                 result.seen.top + (result.seen.bottom - result.seen.top) / kSide};
  result.captions = std::move(captions);
  return result;
}

std::vector<WrittenCaption> two_captions() {
  return {
      caption({{"a", -0.105, 0, 0, 0},
               {"small", -1.204, 6, 8, 2.5},
               {"cat", -0.223, 5, 6, 1.5},
               {"looks", -0.511, 4, 3, 1},
               {"<end>", -0.051, 12, 12, 3}},
              -0.42),
      caption({{"two", -3.219, 9, 3, 2}, {"eyes", -0.916, 6, 11, 1}, {"<end>", -0.693, 1, 1, 2}},
              -1.9)};
}

WrittenCaption hard_caption() {
  WrittenCaption result =
      caption({{"a", -0.2, 2, 2, 2}, {"nose", -0.4, 10, 8, 1.2}, {"<end>", -0.3, 7, 7, 3}}, -0.3);
  // What was drawn need not be the likeliest.
  result.words[0].place = 2 * kSide + 2;
  result.words[1].place = 9 * kSide + 8;
  result.words[2].place = 7 * kSide + 9;
  return result;
}

}  // namespace

CaptionPage sample_captions() {
  CaptionPage page;
  page.title = "Where the words looked: 3 photos";
  page.facts = {"captioner", "sees through efficientnet_lite0", "soft attention, additive score",
                "14 × 14 places", "shortest edge to 248, centre crop of 224"};
  page.rows = page.columns = kSide;
  page.photos = {photo(two_captions(), true), photo({hard_caption()}, false),
                 photo({caption({{"fur", -2.303, 8, 8, 2}, {"fur", -1.609, 9, 9, 2}}, -2)}, true)};
  page.notes = {"A map shows where a word looked, not why it was written."};
  return page;
}

CaptionPage hostile_captions() {
  CaptionPage page;
  page.title = "</title><script>alert(2)</script>";
  page.facts = {"\"></script><script>alert(3)</script>"};
  page.rows = 2;
  page.columns = 3;
  CaptionedPhoto one;
  one.name = "caf\xE9 <img src=x onerror=alert(4)>.jpg";
  one.jpeg = sample_jpeg();
  one.size = {451, 300};
  one.seen = {0, 0, 451, 300};
  one.cell = {0, 0, 451.0 / 3, 150};
  const std::string long_word(256, 'w');
  one.captions = {{.text = "<script>alert(1)</script> </script> <!--<script> " + long_word,
                   .words = {{"<script>alert(1)</script>", -0.25},
                             {"</script>", -1},
                             {"<!--<script>", -2},
                             {"a\u2028b&c", 0},
                             {long_word, -40}},
                   .weights = {1, 2, 3, 4, 5, 9, 7, 7, 7, 7, 7, 7, 1, 0, 0,
                               0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
                   .log_prob = -43.25,
                   .score = -9},
                  {.text = "",
                   .words = {{"<end>", -0.5}},
                   .weights = {0, 0, 0, 1, 0, 0},
                   .log_prob = -0.5,
                   .score = -0.5,
                   .finished = true}};
  page.photos = {one};
  page.notes = {"<style>*{display:none}</style>", "<svg onload=alert(5)>"};
  return page;
}

CaptionPage many_captions() {
  CaptionPage page = sample_captions();
  page.title = "Where the words looked: 100 photos";
  std::vector<WrittenCaption> three = two_captions();
  three.push_back(hard_caption());
  page.photos.assign(100, photo(three, true));
  return page;
}

}  // namespace vitascope::tests
