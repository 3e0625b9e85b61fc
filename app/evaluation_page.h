#pragma once

#include <string>
#include <vector>

#include "app/evaluation_result.h"
#include "vit/image/picture.h"

/// \file
/// What an evaluation found, as one HTML page that needs no network and no other file.
namespace vitascope::app {

/// A picture of the page.
struct EvaluationPicture {
  std::string name;  ///< of its file
  image::Size size;
  std::string bytes;
};
using EvaluationPictures = std::vector<EvaluationPicture>;

/// The page. It has no script; its policy lets it load nothing.
std::string evaluation_page(const EvaluationResult& result, const EvaluationPictures& pictures);

}  // namespace vitascope::app
