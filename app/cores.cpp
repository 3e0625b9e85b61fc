#include "app/cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

namespace vitascope::app {
namespace {

namespace fs = std::filesystem;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// quota / period in microseconds; -1 and "max" mean no quota.
double ratio(const std::string& quota, double period) {
  std::istringstream number(quota);
  double microseconds = 0;
  if (!(number >> microseconds) || microseconds <= 0 || period <= 0) return kNoLimit;
  return microseconds / period;
}

/// cgroup v2: "QUOTA PERIOD" in cpu.max.
double limit_v2(const fs::path& folder) {
  std::ifstream file(folder / "cpu.max");
  std::string quota;
  double period = 0;
  return file >> quota >> period ? ratio(quota, period) : kNoLimit;
}

double limit_v1(const fs::path& folder) {
  std::ifstream quota_file(folder / "cpu.cfs_quota_us");
  std::ifstream period_file(folder / "cpu.cfs_period_us");
  std::string quota;
  double period = 0;
  return quota_file >> quota && period_file >> period ? ratio(quota, period) : kNoLimit;
}

/// The tightest limit of a group and of those above it. Inside a container the group's own path may
/// not exist below the mount; the mount itself is then the container's group.
double tightest(const fs::path& mount, const std::string& group, double (*limit)(const fs::path&)) {
  double cores = limit(mount);
  fs::path folder = mount;
  for (const fs::path& part : fs::path(group).relative_path()) {
    folder /= part;
    cores = std::min(cores, limit(folder));
  }
  return cores;
}

bool has_cpu_controller(const std::string& controllers) {
  std::istringstream names(controllers);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == "cpu") return true;
  }
  return false;
}

}  // namespace

double cgroup_cores(const std::string& root) {
  const fs::path mount = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  double cores = kNoLimit;
  // Lines are hierarchy:controllers:path; version 2 is hierarchy 0 without controllers.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      cores = std::min(cores, tightest(mount, group, limit_v2));
    } else if (has_cpu_controller(controllers)) {
      cores = std::min(cores, tightest(mount / "cpu", group, limit_v1));
      cores = std::min(cores, tightest(mount / controllers, group, limit_v1));
    }
  }
  return cores;
}

int available_cores() {
  double cores = std::max(1u, std::thread::hardware_concurrency());
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) cores = std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::ceil(std::min(cores, std::max(cgroup_cores(""), 1.0))));
}

}  // namespace vitascope::app
