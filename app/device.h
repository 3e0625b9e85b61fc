#pragma once

#include <c10/core/Device.h>

#include <string>

#include "vit/model/vision_transformer.h"

/// \file
/// Where the model runs. CUDA arrives as a library that is opened only when it is wanted.
namespace vitascope::app {

/// Makes a device ready: "cpu", "auto" (a GPU where one answers, else the CPU) or "cuda[:N]". Must
/// come before anything else that LibTorch does, which asks for its CUDA part once and never again.
/// \param verbose say on stderr what "auto" chose and why
/// \throws UsageError in one line that says what is missing and what brings it
at::Device open_device(const std::string& name, bool verbose);

/// Moves the parameters of a model.
void move_to(model::VisionTransformer& network, at::Device device);

/// Where the parameters of a model are.
at::Device device_of(const model::VisionTransformer& network);

/// The number N of "cuda[:N]", 0 where it is left out.
/// \throws UsageError when `name` is no device
int parse_device(const std::string& name);

/// What to say of a library that could not be opened: which wheel brings what is missing.
/// \param reason what dlerror said
std::string missing_library(const std::string& reason);

}  // namespace vitascope::app
