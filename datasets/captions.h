#pragma once

#include <cstdint>
#include <string>

#include "datasets/captioned_images.h"

/// \file
/// A captioned set of photos as it lies on disk.
namespace vitascope::datasets {

/// Reads the file of captions at `path`, at most 1 GB; photos as the file names them.
/// \throws InputError as parse_captions, or when it can't be read
CaptionedImages read_captions(const std::string& path);

/// Reads it and finds its photos. They lie in `photos`, or, when that is "", in the folder among
/// these that has most of them: the file's own, the one above, and the folders directly in those.
/// Photos that are not there are left out; a note names the first few and counts them. Lists beside
/// the file that end in trainImages.txt, devImages.txt and testImages.txt, as those of Flickr8k,
/// give the splits; photos in none of them keep Split::none.
/// \throws InputError as read_captions, when none of the photos is there, or a list can't be read
/// or
///         names a photo that another list names
CaptionedImages open_captions(const std::string& path, const std::string& photos = "");

/// Moves `fraction` of the photos that are for training, or for nothing in particular, to
/// validation, as datasets/split.h does for labelled ones: chosen by the seed and the photos'
/// names. \throws UsageError when the fraction is not inside (0, 1) or nothing would be left to
/// validate
void split_validation(CaptionedImages& images, double fraction, std::uint64_t seed);

}  // namespace vitascope::datasets
