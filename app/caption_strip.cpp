#include "app/caption_strip.h"

#include <algorithm>

#include "app/drawing/sheet.h"
#include "vit/text.h"

namespace vitascope::app {

drawing::Canvas draw_caption(const image::Picture& photo, const PhotoCaptions& captions,
                             const CaptionText& caption, const drawing::OverlayStyle& style,
                             const drawing::Font& font) {
  constexpr int kColumns = 6;
  drawing::Sheet sheet;
  sheet.title = printable(caption.text);
  sheet.notes.emplace_back("where each word looked; each tile on a scale of its own");
  sheet.panels.reserve(caption.words.size());
  for (const CaptionWord& word : caption.words) {
    if (word.text == caption::kSpecialTokens[caption::kEnd]) continue;
    const drawing::CellMap map{captions.rows, captions.columns, word.weights};
    sheet.panels.push_back(
        {printable(word.text), drawing::draw_overlay(photo, map, captions.view, style).picture});
  }
  sheet.columns = std::min(kColumns, static_cast<int>(sheet.panels.size()));
  return drawing::draw(sheet, font);
}

}  // namespace vitascope::app
