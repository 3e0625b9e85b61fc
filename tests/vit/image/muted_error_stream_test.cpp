#include "vit/image/muted_error_stream.h"

#include <gtest/gtest.h>

#include <iostream>
#include <thread>

namespace vitascope::image {
namespace {

TEST(MutedErrorStream, DropsWhatItsOwnThreadWrites) {
  testing::internal::CaptureStderr();
  {
    const MutedErrorStream muted;
    std::cerr << "mine" << '!' << std::endl;
    std::thread([] { std::cerr << "other" << '!' << std::flush; }).join();
  }
  std::cerr << "after" << std::flush;
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "other!after");
}

}  // namespace
}  // namespace vitascope::image
