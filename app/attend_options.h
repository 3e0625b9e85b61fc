#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/audit_options.h"
#include "app/map_maker.h"
#include "app/map_pictures.h"
#include "app/map_requests.h"
#include "app/options.h"

/// \file
/// The flags of `attend`, and what must be right with them before any work.
namespace vitascope::app {

/// What the flags say.
struct AttendOptions {
  ModelOptions model;
  RunOptions run;
  PhotoOptions photos;
  MapChoice maps;
  AuditChoice audit;
  std::string of_class = "predicted";
  std::string from;
  std::string output;
  std::string save_map;
  std::string contact_sheet;
  std::string html;
  std::string upsampling = "nearest", colours = "viridis", clip = "0,100";
  double alpha = 0.6;
  bool contour = false, no_caption = false;
  int width = 0;
  std::string format = "text";
  bool force = false;
};

/// Declares all of them.
void add_attend_options(CLI::App& command, AttendOptions& options);

/// Everything that can be wrong with the command line alone.
/// \throws UsageError
void check_options(const AttendOptions& options);

/// --save-map holds one map of one photo, and --html one photo.
/// \throws UsageError
void check_counts(const AttendOptions& options, std::size_t photos, std::size_t maps);

/// How maps are drawn.
MapStyle map_style(const AttendOptions& options);

}  // namespace vitascope::app
