#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vit/metrics/captions.h"

/// \file
/// Scores of captions as text, JSON and CSV.
namespace vitascope::app {

/// What was scored.
struct CaptionSubject {
  std::string results, references;     ///< the files
  std::string source;                  ///< what the file of references was taken for
  std::vector<std::string> ids;        ///< of the photos, in the order of their scores
  std::size_t reference_captions = 0;  ///< of all these photos
  std::string frequencies;             ///< the file that document frequencies are from
  std::int64_t frequency_photos = 0;   ///< how many photos they were counted on
  std::size_t without_references = 0;  ///< captions that were left out
  std::size_t without_caption = 0;     ///< photos of the references that were left out
};

/// A few lines: the set's figures.
std::string caption_report_text(const CaptionSubject& subject,
                                const metrics::CaptionReport& report);

/// One JSON object on a line; its keys are documented in the help of `score-captions`.
std::string caption_report_json(const CaptionSubject& subject,
                                const metrics::CaptionReport& report);

/// A line of column names, one of the set, and one for each photo.
std::string caption_report_csv(const CaptionSubject& subject, const metrics::CaptionReport& report);

}  // namespace vitascope::app
