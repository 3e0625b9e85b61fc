#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/map_requests.h"
#include "app/options.h"
#include "vit/classifier.h"
#include "vit/image/picture.h"
#include "vit/image/view.h"

/// \file
/// A photo, what the model says of it, and maps of where it looked.
namespace vitascope::app {

/// Which classes are explained.
struct ClassChoice {
  int top = 1;               ///< the so many likeliest
  std::optional<int> index;  ///< this one instead
};

/// --class: "predicted", "top-K", an index, or a label in any case.
/// \throws UsageError with the nearest labels
ClassChoice parse_class(const std::string& text, const std::vector<std::string>& labels);

/// A map of a photo.
struct PhotoMap {
  MapRequest request;
  explain::Map map;
  std::optional<Prediction> of_class;  ///< nothing where the method explains none
  double seconds = 0;                  ///< its share of the passes that made it
};

/// Attention of one layer.
struct LayerMaps {
  int layer = 0;
  at::Tensor heads;    ///< [H, patches]: what the head of the model reads attends to
  at::Tensor patches;  ///< [patches, patches], the mean over heads; undefined where there are many
};

/// All of one photo.
struct ExplainedPhoto {
  image::Picture picture;
  image::View view;
  at::Tensor pixels;  ///< [1, 3, H, W], normalised: what the network saw
  model::Grid grid;
  std::vector<Prediction> likeliest;  ///< a few, the first leads; of a backbone none
  std::vector<PhotoMap> maps;
  std::vector<LayerMaps> layers;  ///< where they are to be kept

  std::optional<Prediction> predicted() const {
    return likeliest.empty() ? std::nullopt : std::optional(likeliest.front());
  }
};

/// What is made of each photo.
struct MapWork {
  std::vector<MapRequest> requests;
  ClassChoice classes;
  /// Upright-photo pixel whose patch is the query of raw attention, instead of the class token.
  std::optional<std::pair<double, double>> point;
  bool keep_layers = false;       ///< attention of every layer too, for the page
  bool apart = false;             ///< each map in passes of its own, so that their times compare
  explain::Scores probabilities;  ///< of methods of many passes; may be empty where there is none
};

/// Makes the maps of photos, one photo at a time; nothing of a photo is kept.
class MapMaker {
 public:
  /// Called between the many passes of occlusion and RISE; false ends the work.
  using GoOn = std::function<bool(const std::string& method, std::int64_t done, std::int64_t all)>;

  MapMaker(const weights::Model& model, const RunOptions& run, MapWork work, GoOn go_on);

  /// \throws InputError when the photo can't be read, does not fit the patches, or was not seen at
  ///         the point; Stopped when go_on said so
  ExplainedPhoto explain(const std::string& path, const image::DecodeOptions& decode) const;

  /// The work was ended by go_on.
  struct Stopped {};

 private:
  void add_maps(ExplainedPhoto& photo) const;
  std::vector<PhotoMap> maps_in_one_pass(const std::vector<MapRequest>& requests,
                                         ExplainedPhoto& photo) const;
  std::vector<PhotoMap> maps_of(const std::vector<MapRequest>& requests,
                                const std::vector<Prediction>& classes, const at::Tensor& pixels,
                                explain::Recorded& recorded) const;
  std::vector<explain::Map> probed(const MapRequest& request, const at::Tensor& pixels,
                                   const std::vector<Prediction>& classes) const;

  const weights::Model& model_;
  RunOptions run_;
  MapWork work_;
  GoOn go_on_;
};

}  // namespace vitascope::app
