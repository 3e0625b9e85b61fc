#pragma once

#include <string>

#include "app/finetune_options.h"

/// \file
/// `finetune --method head`: features of a frozen network once, then a head on them.
namespace vitascope::app {

/// Trains a head and leaves the run's folder as RunFolder describes it.
/// \param recipe the options as they are run, for the folder
/// \return the exit status
/// \throws UsageError, InputError, FailureError
int run_head(const FinetuneOptions& options, const std::string& recipe);

}  // namespace vitascope::app
