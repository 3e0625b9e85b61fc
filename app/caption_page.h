#pragma once

#include <string>

#include "app/caption_result.h"
#include "app/report/caption_page.h"
#include "vit/caption/captioner.h"
#include "vit/image/picture.h"

/// \file
/// Captions and where their words looked, as what the HTML page shows.
namespace vitascope::app {

/// Fails early where the page could not be written or would hold too many photos to be opened.
/// \param path "": none is written
/// \throws UsageError
void check_caption_page(const std::string& path, bool force, std::size_t photos);

/// The page of a captioner, before its first photo.
/// \param folder of the captioner
report::CaptionPage caption_page(const std::string& folder, const caption::Captioner& captioner,
                                 const image::Specification& specification);

/// \param photo upright, that of `captions`
/// \throws InputError when a weight is NaN or infinite
report::CaptionedPhoto captioned_photo(const image::Picture& photo, const PhotoCaptions& captions);

/// Writes the page as a whole, with a title for its photos.
/// \return what was written, for stderr: its name, photos and size
/// \throws UsageError when `path` exists and `force` is false; FailureError when writing fails
std::string write_caption_page(const std::string& path, report::CaptionPage page, bool force);

}  // namespace vitascope::app
