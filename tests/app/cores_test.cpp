#include "app/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace vitascope::app {
namespace {

namespace fs = std::filesystem;

/// A root folder with a /proc and a /sys of its own.
class CgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "vitascope-cgroup-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(root_ + name).parent_path());
    std::ofstream(root_ + name) << text;
  }
  std::string root_;
};

TEST_F(CgroupTest, WithoutAnyThereIsNoLimit) { EXPECT_TRUE(std::isinf(cgroup_cores(root_))); }

TEST_F(CgroupTest, Version2ReadsTheQuotaOfTheGroup) {
  write("/proc/self/cgroup", "0::/work.slice/job\n");
  write("/sys/fs/cgroup/work.slice/job/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cores(root_), 1.5);
}

TEST_F(CgroupTest, Version2TakesTheTightestOfAllLevels) {
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cores(root_), 2);
}

TEST_F(CgroupTest, InAContainerTheMountItselfIsTheGroup) {
  write("/proc/self/cgroup", "0::/docker/0123\n");
  write("/sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cores(root_), 3);
}

TEST_F(CgroupTest, Version1ReadsTheCpuController) {
  write("/proc/self/cgroup", "11:memory:/m\n4:cpu,cpuacct:/job\n1:name=systemd:/x\n");
  write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "400000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cores(root_), 4);
}

TEST_F(CgroupTest, Version1MinusOneIsNoLimit) {
  write("/proc/self/cgroup", "4:cpu:/job\n");
  write("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_TRUE(std::isinf(cgroup_cores(root_)));
}

TEST_F(CgroupTest, NonsenseIsNoLimit) {
  write("/proc/self/cgroup", "nonsense\n0::/\n");
  write("/sys/fs/cgroup/cpu.max", "what 0\n");
  EXPECT_TRUE(std::isinf(cgroup_cores(root_)));
}

TEST(AvailableCores, FollowsTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
      break;
    }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(available_cores(), 1);
  sched_setaffinity(0, sizeof(before), &before);
  EXPECT_GE(available_cores(), 1);
  EXPECT_LE(available_cores(), CPU_COUNT(&before));
}

}  // namespace
}  // namespace vitascope::app
