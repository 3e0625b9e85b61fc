#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datasets/captioned_images.h"

/// \file
/// Captions as lines of text, of untrusted files. Photos are taken as they come: one entry a
/// caption, empty ones too; parse_captions() puts them together.
namespace vitascope::datasets {

/// Whether the first line is of a token file: `image.jpg#0<tab>caption`.
bool is_token_file(std::string_view text);

/// Reads a token file, as Flickr8k.token.txt.
/// \throws InputError with the line that has no tab or no '#number' before it
CaptionedImages parse_token_file(std::string_view text, const std::string& path);

/// Whether the first line names a column of photos (image, image_name, filename, file_name, path,
/// file) and one of captions (caption, comment, sentence, text), between commas, semicolons, tabs
/// or bars.
bool is_caption_table(std::string_view text);

/// Reads such a table: CSV as captions.txt of Flickr8k, or fields between bars as results.csv of
/// Flickr30k. Where captions are the last column they may hold the separator without quotes. Lines
/// between bars that lack a field are left out and told in a note. \throws InputError with the line
/// that has another number of fields than the first
CaptionedImages parse_caption_table(std::string_view text, const std::string& path);

/// The names of a file that lists one a line, as Flickr_8k.trainImages.txt.
std::vector<std::string> parse_name_list(std::string_view text);

}  // namespace vitascope::datasets
