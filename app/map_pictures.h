#pragma once

#include <string>

#include "app/drawing/overlay.h"
#include "app/drawing/text.h"
#include "app/map_maker.h"

/// \file
/// Maps of a photo as a picture that says what it shows.
namespace vitascope::app {

/// How maps are drawn.
struct MapStyle {
  drawing::OverlayStyle overlay;
  bool caption = true;
  bool shared_range = false;  ///< one scale for all maps of the photo: heads, or layers
};

/// "cat 0.877", or nothing for a backbone.
std::string prediction_text(const ExplainedPhoto& photo);

/// "rollout: attention followed through all layers", with the class where there is one.
std::string map_text(const PhotoMap& map);

/// The map over its photo with a caption; several maps side by side.
/// \throws InputError when a map holds NaN
drawing::Canvas draw_maps(const ExplainedPhoto& photo, const MapStyle& style,
                          const drawing::Font& font);

}  // namespace vitascope::app
