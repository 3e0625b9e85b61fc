#pragma once

#include <array>
#include <string_view>

/// \file
/// The page without its content; embed_page.py writes the definition when the program is built.
namespace vitascope::app::report {

/// What comes before the photo (base64), between the photo and the report (JSON), and after.
extern const std::array<std::string_view, 3> kPage;

}  // namespace vitascope::app::report
