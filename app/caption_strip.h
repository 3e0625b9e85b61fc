#pragma once

#include "app/caption_result.h"
#include "app/drawing/overlay.h"
#include "app/drawing/text.h"

/// \file
/// A caption as a picture: the photo once a word, with what that word looked at.
namespace vitascope::app {

/// The tiles of one caption, each on a scale of its own.
/// \param photo upright, that of `captions`
drawing::Canvas draw_caption(const image::Picture& photo, const PhotoCaptions& captions,
                             const CaptionText& caption, const drawing::OverlayStyle& style,
                             const drawing::Font& font);

}  // namespace vitascope::app
