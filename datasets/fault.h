#pragma once

#include <string>

/// \file
/// Why a photo could not be taken, whatever was thrown.
namespace vitascope::datasets {

/// Call inside `catch (...)`: the message of what was thrown, without the photo's path.
std::string current_fault();

}  // namespace vitascope::datasets
