#pragma once

#include <array>
#include <string_view>

/// \file
/// Pages without their content; embed_page.py writes the definitions when the program is built.
namespace vitascope::app::report {

/// Of maps: what comes before the photo (base64), between the photo and the report (JSON), and
/// after.
extern const std::array<std::string_view, 3> kPage;

/// Of captions: what comes before the report (JSON), and after.
extern const std::array<std::string_view, 2> kCaptionPage;

}  // namespace vitascope::app::report
