#include <fmt/format.h>
#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "vit/error.h"
#include "vit/image/decoders.h"

namespace vitascope::image {
namespace {

struct Source {
  Bytes rest;
};

int read_source(GifFileType* gif, GifByteType* target, int length) {
  auto& source = *static_cast<Source*>(gif->UserData);
  const auto count = std::min<std::size_t>(source.rest.size(), std::max(length, 0));
  std::memcpy(target, source.rest.data(), count);
  source.rest = source.rest.subspan(count);
  return static_cast<int>(count);
}

struct Closer {
  void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
};

/// Reads up to the first frame's description; returns its transparent colour, -1 without one.
/// False when the file can't be read so far.
bool find_frame(GifFileType* gif, int& transparent) {
  transparent = NO_TRANSPARENT_COLOR;
  for (;;) {
    GifRecordType type{};
    if (DGifGetRecordType(gif, &type) == GIF_ERROR) return false;
    if (type == IMAGE_DESC_RECORD_TYPE) return DGifGetImageDesc(gif) == GIF_OK;
    if (type == TERMINATE_RECORD_TYPE) return false;
    if (type != EXTENSION_RECORD_TYPE) continue;
    int code = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(gif, &code, &block) == GIF_ERROR) return false;
    GraphicsControlBlock control{};
    if (code == GRAPHICS_EXT_FUNC_CODE && block != nullptr &&
        DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK &&
        control.TransparentColor != NO_TRANSPARENT_COLOR)
      transparent = control.TransparentColor;
    while (block != nullptr)
      if (DGifGetExtensionNext(gif, &block) == GIF_ERROR) return false;
  }
}

using Palette = std::array<std::array<std::uint8_t, 3>, 256>;

/// The frame's own colours or the file's, then black; gray where there are none.
Palette palette_of(const GifFileType& gif) {
  Palette palette{};
  const ColorMapObject* colours =
      gif.Image.ColorMap != nullptr ? gif.Image.ColorMap : gif.SColorMap;
  if (colours == nullptr) {
    for (int i = 0; i < 256; ++i) palette[i].fill(static_cast<std::uint8_t>(i));
    return palette;
  }
  for (int i = 0; i < std::min(colours->ColorCount, 256); ++i)
    palette[i] = {colours->Colors[i].Red, colours->Colors[i].Green, colours->Colors[i].Blue};
  return palette;
}

}  // namespace

Picture decode_gif(Bytes file, const std::string& path, const Header& header) {
  Source source{file};
  int error = 0;
  const std::unique_ptr<GifFileType, Closer> gif(DGifOpen(&source, read_source, &error));
  const auto refuse = [&](int code) {
    const char* text = GifErrorString(code);
    throw InputError(path, fmt::format("damaged GIF: {}", text == nullptr ? "no picture" : text));
  };
  if (!gif) refuse(error);
  int transparent = NO_TRANSPARENT_COLOR;
  if (!find_frame(gif.get(), transparent)) refuse(gif->Error);

  const GifImageDesc& frame = gif->Image;
  if (frame.Left < 0 || frame.Top < 0 || frame.Left + frame.Width > header.stored.width ||
      frame.Top + frame.Height > header.stored.height)
    refuse(D_GIF_ERR_NO_IMAG_DSCR);
  const Palette palette = palette_of(*gif);
  Picture picture;
  picture.size = header.stored;
  // The screen outside the frame shows the transparent colour, or else colour 0.
  const auto& fill = palette[transparent == NO_TRANSPARENT_COLOR ? 0 : transparent];
  const std::size_t width = picture.size.width;
  picture.rgb.resize(width * picture.size.height * 3);
  for (std::size_t i = 0; i < picture.rgb.size(); ++i) picture.rgb[i] = fill[i % 3];

  std::vector<GifPixelType> line(frame.Width);
  const auto read_line = [&](int y) {
    if (DGifGetLine(gif.get(), line.data(), frame.Width) == GIF_ERROR) refuse(gif->Error);
    std::uint8_t* row = &picture.rgb[((frame.Top + y) * width + frame.Left) * 3];
    for (int x = 0; x < frame.Width; ++x) std::memcpy(row + 3 * x, palette[line[x]].data(), 3);
  };
  if (!frame.Interlace) {
    for (int y = 0; y < frame.Height; ++y) read_line(y);
    return picture;
  }
  constexpr int kFirst[] = {0, 4, 2, 1};
  constexpr int kStep[] = {8, 8, 4, 2};
  for (int pass = 0; pass < 4; ++pass)
    for (int y = kFirst[pass]; y < frame.Height; y += kStep[pass]) read_line(y);
  return picture;
}

}  // namespace vitascope::image
