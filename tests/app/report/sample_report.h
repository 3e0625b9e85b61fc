#pragma once

#include <string>

#include "app/report/report.h"

/// \file
/// A report made of formulas, for tests of the page.
namespace vitascope::tests {

/// The left part of a CC0 photo of datasets/samples, as the JPEG that a report carries.
std::string sample_jpeg();

/// As large as one of ViT-B/16: 12 layers of 12 heads over 14 x 14 patches of a centre crop, with
/// maps that gather around places that differ with the layer and the head.
app::report::Report sample_report();

/// Texts that would break out of the page if they were not escaped, a file name that is not UTF-8;
/// one layer without the attention of its patches, of which head 2 is the same everywhere, on a
/// grid of 2 x 3 cells that covers the photo.
app::report::Report hostile_report();

}  // namespace vitascope::tests
