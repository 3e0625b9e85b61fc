#pragma once

#include <CLI/CLI.hpp>
#include <string>

/// \file
/// `--help`: one line an option, with its value and its default, in groups, and an example below.
namespace vitascope::app {

/// Formats help for the program and for its commands; given to CLI::App::formatter.
class Help : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace vitascope::app
