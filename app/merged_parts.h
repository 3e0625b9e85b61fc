#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/part_file.h"

/// \file
/// The parts of a list of photos, as the whole list again.
namespace vitascope::app {

/// All parts of one run.
class Parts {
 public:
  /// \throws UsageError when one is missing, there twice or of another run; InputError when one is
  ///         damaged
  explicit Parts(const std::vector<std::string>& paths);

  /// Of the first part.
  const PartHeader& header() const { return readers_.front().header(); }
  /// Its file.
  const std::string& path() const { return readers_.front().path(); }

  /// Hands every photo to `use`, in the order of the list.
  /// \throws InputError naming the part that is damaged, not finished, or holds other photos than
  ///         its own
  void for_each(const std::function<void(const Json&)>& use) const;

 private:
  std::vector<PartReader> readers_;  ///< at their first batch, in the order of the parts
};

}  // namespace vitascope::app
