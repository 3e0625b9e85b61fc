#include "app/device.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "vit/error.h"

namespace vitascope::app {
namespace {

using testing::HasSubstr;

TEST(ParseDevice, GivesTheNumberOfTheGpu) {
  EXPECT_EQ(parse_device("cpu"), 0);
  EXPECT_EQ(parse_device("auto"), 0);
  EXPECT_EQ(parse_device("cuda"), 0);
  EXPECT_EQ(parse_device("cuda:0"), 0);
  EXPECT_EQ(parse_device("cuda:13"), 13);
  for (const char* bad :
       {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:128", "CPU", "cpu:0"}) {
    EXPECT_THROW(parse_device(bad), UsageError) << bad;
  }
}

TEST(MissingLibrary, NamesTheWheelThatBringsIt) {
  const std::string cudnn =
      missing_library("libcudnn.so.9: cannot open shared object file: No such file or directory");
  EXPECT_THAT(cudnn, HasSubstr("libcudnn.so.9 is missing"));
  EXPECT_THAT(cudnn, HasSubstr("pip install nvidia-cudnn-cu13"));
  // One name begins like another.
  EXPECT_THAT(missing_library("libcusparseLt.so.0: cannot open"),
              HasSubstr("nvidia-cusparselt-cu13"));
  EXPECT_THAT(missing_library("libcusparse.so.12: cannot open"), HasSubstr("nvidia-cusparse'"));
  EXPECT_THAT(missing_library("/x/y.so: undefined symbol: f"), HasSubstr("undefined symbol: f"));
}

TEST(OpenDevice, TheCpuIsAlwaysThere) { EXPECT_TRUE(open_device("cpu", false).is_cpu()); }

TEST(DeviceOf, IsWhereTheParametersAre) {
  model::VisionTransformer network{model::Config()};
  EXPECT_TRUE(device_of(network).is_cpu());  // without any yet
  // No GPU is needed for this: a tensor of the meta device has a place but no memory.
  *network.parameters().back().second = at::empty({1}, at::kMeta);
  EXPECT_EQ(device_of(network), at::Device(at::kMeta));
}

}  // namespace
}  // namespace vitascope::app
