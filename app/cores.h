#pragma once

#include <string>

/// \file
/// How many cores this process may keep busy.
namespace vitascope::app {

/// The smaller of the affinity mask and the cgroup's quota (v1 and v2, every level up to the root),
/// rounded up; at least 1.
int available_cores();

/// The quota alone, in cores; infinite where no cgroup sets one.
/// \param root where /proc and /sys are, "" on a real system
double cgroup_cores(const std::string& root);

}  // namespace vitascope::app
