#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "app/photo_run.h"
#include "tests/cli/run_program.h"
#include "tests/golden.h"

namespace vitascope::app {
namespace {

/// With --tta flip a photo and its mirror image are one to the model; without it they are not.
TEST(TestTimeAugmentation, MirroredPhotosGetTheSameLogits) {
  const tests::TemporaryFolder folder;
  const std::string photo = tests::golden("images/rgb.png");
  const std::string mirrored = folder / "mirrored.png";
  cv::Mat picture;
  cv::flip(cv::imread(photo), picture, 1);
  ASSERT_TRUE(cv::imwrite(mirrored, picture));
  const weights::Model model = weights::open_model(tests::golden("models/hf-vit"));
  const auto difference = [&](const std::string& tta) {
    std::vector<at::Tensor> logits;
    PhotoOptions photos;
    photos.tta = tta;
    const RunReport report =
        run_photos(model, {photo, mirrored}, {.threads = 1, .quiet = true}, photos, 0,
                   {[&](const PhotoResult& result) { logits.push_back(result.output.logits); }});
    EXPECT_EQ(report.done, 2u);
    return (logits.at(0) - logits.at(1)).abs().max().item<double>();
  };
  EXPECT_LT(difference("flip"), 1e-5);
  EXPECT_GT(difference("none"), 1e-3);
}

}  // namespace
}  // namespace vitascope::app
