#pragma once

#include <string>
#include <vector>

#include "app/finetune_options.h"
#include "app/recipe.h"

/// \file
/// `finetune --method head` and `knn`: features of a frozen network once, then a head on them.
namespace vitascope::app {

/// Trains a head, or keeps photos as neighbours, and leaves the run's folder as RunFolder and
/// TrainingReport describe it.
/// \param recipe  the options as they are run, for the folder
/// \param changed those that are not at their defaults
/// \return the exit status
/// \throws UsageError, InputError, FailureError
int run_head(const FinetuneOptions& options, const std::string& recipe,
             std::vector<OptionValue> changed);

}  // namespace vitascope::app
