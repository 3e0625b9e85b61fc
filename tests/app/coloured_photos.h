#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <utility>

#include "app/options.h"
#include "datasets/open_labelled.h"
#include "datasets/split.h"
#include "tests/cli/run_program.h"
#include "vit/random_numbers.h"

/// \file
/// Photos that even an untrained network tells apart.
namespace vitascope::tests {

inline constexpr const char* kColours[] = {"blue things", "green", "red"};

/// A noisy picture in which one of OpenCV's channels, blue, green and red, is bright.
inline std::string draw(const std::string& path, int channel, std::uint64_t seed) {
  RandomNumbers random(seed);
  cv::Mat picture(40, 48, CV_8UC3);
  for (int y = 0; y < picture.rows; ++y) {
    for (int x = 0; x < picture.cols; ++x) {
      for (int c = 0; c < 3; ++c) {
        picture.at<cv::Vec3b>(y, x)[c] =
            static_cast<uchar>(random.below(90) + (c == channel ? 150 : 20));
      }
    }
  }
  EXPECT_TRUE(cv::imwrite(path, picture));
  return path;
}

/// Eight photos of each colour, a quarter of them for validation.
class ColouredPhotos : public testing::Test {
 protected:
  void SetUp() override {
    for (int channel = 0; channel < 3; ++channel) {
      const std::string of_class = data.path() + "/" + kColours[channel];
      std::filesystem::create_directory(of_class);
      for (int i = 0; i < 8; ++i) {
        draw(fmt::format("{}/{}.png", of_class, i), channel,
             static_cast<std::uint64_t>(channel * 100 + i));
      }
    }
    run.quiet = true;
    run.threads = 1;
  }

  std::shared_ptr<const datasets::LabelledImages> opened(double fraction = 0.25) const {
    datasets::LabelledImages images = datasets::open_labelled(data.path());
    if (fraction > 0) datasets::split_validation(images, fraction, 0);
    return std::make_shared<const datasets::LabelledImages>(std::move(images));
  }

  const TemporaryFolder data, out;
  app::RunOptions run;
};

}  // namespace vitascope::tests
