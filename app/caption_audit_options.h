#pragma once

#include <CLI/CLI.hpp>
#include <string>

/// \file
/// The flags of `caption --audit`.
namespace vitascope::app {

/// What the flags say.
struct CaptionAuditOptions {
  bool audit = false;
  std::string masks;     ///< --masks FILE
  int permutations = 5;  ///< --permutations N
};

/// Declares them in a group of their own.
void add_caption_audit_options(CLI::App& command, CaptionAuditOptions& options);

/// What --audit measures, and its keys in JSON, a line each.
std::string caption_audit_help();

}  // namespace vitascope::app
