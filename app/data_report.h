#pragma once

#include <string>

#include "datasets/check.h"
#include "datasets/labelled_images.h"

/// \file
/// What a data set holds and what is wrong with it, for people and for programs.
namespace vitascope::app {

/// What it was taken for, and a line for each class with its pictures in every split.
std::string describe_data(const datasets::LabelledImages& images);

/// Every finding with its path; empty when there are none.
std::string findings_text(const datasets::LabelledImages& images,
                          const datasets::CheckReport& report);

/// describe_data, notes, classes that lie in one split only, and every finding with its path.
std::string data_report_text(const datasets::LabelledImages& images,
                             const datasets::CheckReport& report);

/// The same as one JSON object on a line.
std::string data_report_json(const datasets::LabelledImages& images,
                             const datasets::CheckReport& report);

}  // namespace vitascope::app
