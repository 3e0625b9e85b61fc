#include "app/caption_result.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "vit/text.h"

namespace vitascope::app {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(const CaptionWord& word, const PhotoCaptions& photo) {
  const auto most = std::ranges::max_element(word.weights);
  const auto cell = static_cast<int>(most - word.weights.begin());
  const image::Rectangle box =
      photo.view.cell(cell / photo.columns, cell % photo.columns, photo.rows, photo.columns);
  return {{"word", word.text},
          {"log_prob", word.log_prob},
          {"weight", *most},
          {"box", {box.left, box.top, box.right, box.bottom}}};
}

ordered_json json_of(const CaptionText& caption, const PhotoCaptions& photo) {
  ordered_json words = ordered_json::array();
  for (const CaptionWord& word : caption.words) words.push_back(json_of(word, photo));
  return {{"text", caption.text},
          {"log_prob", caption.log_prob},
          {"score", caption.score},
          {"finished", caption.finished},
          {"words", std::move(words)}};
}

std::string csv_text(const PhotoCaptions& photo) {
  std::string text;
  for (std::size_t rank = 0; rank < photo.captions.size(); ++rank) {
    const CaptionText& caption = photo.captions[rank];
    text += fmt::format("{},{},{},{:.6f},{:.6f}\n", output::csv_field(photo.path), rank + 1,
                        output::csv_field(caption.text), caption.log_prob, caption.score);
  }
  return text;
}

std::string plain_text(const PhotoCaptions& photo) {
  std::string text =
      fmt::format("{}  {}\n", printable(photo.path), printable(photo.captions.front().text));
  if (photo.captions.size() == 1) return text;
  for (const CaptionText& caption : photo.captions) {
    text += fmt::format("  {:8.3f}  {}\n", caption.log_prob, printable(caption.text));
  }
  return text;
}

}  // namespace

CaptionText caption_text(const caption::Caption& caption, const caption::Vocabulary& vocabulary) {
  const caption::Hypothesis& sentence = caption.sentence;
  CaptionText result{.text = fmt::format("{}", fmt::join(vocabulary.decode(sentence.tokens), " ")),
                     .words = {},
                     .log_prob = sentence.log_prob,
                     .score = sentence.score,
                     .finished = sentence.finished};
  const at::Tensor weights = caption.weights.contiguous();
  const float* row = weights.const_data_ptr<float>();
  result.words.reserve(sentence.tokens.size());
  for (std::size_t t = 0; t < sentence.tokens.size(); ++t, row += weights.size(1)) {
    result.words.push_back({.text = vocabulary.word(sentence.tokens[t]),
                            .log_prob = sentence.log_probs[t],
                            .weights = {row, row + weights.size(1)}});
    if (caption.places.defined()) {
      result.words.back().place = caption.places[static_cast<std::int64_t>(t)].item<int>();
    }
  }
  return result;
}

ordered_json caption_json(const PhotoCaptions& photo) {
  ordered_json captions = ordered_json::array();
  for (const CaptionText& caption : photo.captions) captions.push_back(json_of(caption, photo));
  return {{"path", photo.path},
          {"width", photo.size.width},
          {"height", photo.size.height},
          {"grid", {photo.rows, photo.columns}},
          {"captions", std::move(captions)}};
}

std::string render(const PhotoCaptions& result, output::Format format) {
  switch (format) {
    case output::Format::json:
      return output::json_line(caption_json(result));
    case output::Format::csv:
      return csv_text(result);
    case output::Format::text:
      break;
  }
  return plain_text(result);
}

std::string caption_header(output::Format format) {
  return format == output::Format::csv ? "path,rank,caption,log_prob,score\n" : "";
}

}  // namespace vitascope::app
