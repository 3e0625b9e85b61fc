#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "vit/explain/audit.h"

/// \file
/// The flags of `attend --audit`.
namespace vitascope::app {

/// What the flags say.
struct AuditChoice {
  bool audit = false;
  std::string data;                                                    ///< --data FOLDER
  std::vector<std::string> parts{"faithfulness", "weights", "model"};  ///< --audit-parts
  std::string fill = "mean";                                           ///< --fill
  int steps = 24;                                                      ///< --steps
  int random_maps = 3;                                                 ///< --random-maps
  std::string masks;                                                   ///< --masks FILE
  std::string mask_category;                                           ///< --mask-category NAME
  std::vector<std::string> models;                                     ///< --other-models DIR,...
};

/// Declares them in a group of their own.
void add_audit_options(CLI::App& command, AuditChoice& choice);

/// The keys of an audit's numbers in JSON, a line each.
std::string audit_keys_help();

/// What is wrong with them by themselves.
/// \throws UsageError
void check_audit(const AuditChoice& choice);

/// For vit/explain.
explain::AuditOptions audit_options(const AuditChoice& choice, std::uint64_t seed);

}  // namespace vitascope::app
