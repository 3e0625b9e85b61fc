#include "app/benchmark.h"

#include <ATen/ATen.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <opencv2/imgcodecs.hpp>

#include "app/device.h"
#include "vit/error.h"
#include "vit/file.h"
#include "vit/image/decode.h"
#include "vit/image/preprocess.h"

namespace vitascope::app {
namespace {

template <typename Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double run_once(const Measurement& measurement, const at::Tensor& pixels, model::PartTimes* parts) {
  return seconds_of([&] {
    const model::Output output =
        measurement.network->forward(pixels, {.backend = measurement.backend, .times = parts});
    // Fetching the result waits for a GPU to finish.
    (output.logits.defined() ? output.logits : output.features).to(at::kCPU);
  });
}

// A photo-like JPEG: smooth shapes with some grain.
std::vector<std::uint8_t> synthetic_jpeg() {
  constexpr int width = 500, height = 375;
  cv::Mat picture(height, width, CV_8UC3);
  std::uint32_t state = 1;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      state = state * 1664525u + 1013904223u;
      const int grain = int(state >> 28);
      const auto wave = [&](double a, double b) {
        return std::uint8_t(120 + 100 * std::sin(a * x + b * y) + grain);
      };
      picture.at<cv::Vec3b>(y, x) = {wave(.02, .01), wave(.005, .03), wave(.03, -.02)};
    }
  }
  std::vector<std::uint8_t> jpeg;
  if (!cv::imencode(".jpg", picture, jpeg)) throw InternalError("OpenCV can't write a JPEG");
  return jpeg;
}

}  // namespace

void measure(std::vector<Measurement>& measurements, image::Size input, Repetitions repetitions) {
  std::vector<at::Tensor> pixels;
  for (const Measurement& one : measurements) {
    pixels.push_back(
        at::randn({one.batch_size, 3, input.height, input.width}).to(device_of(*one.network)));
    for (int i = 0; i < repetitions.warm_up; ++i) run_once(one, pixels.back(), nullptr);
  }
  for (int i = 0; i < repetitions.repeat; ++i) {
    for (std::size_t m = 0; m < measurements.size(); ++m) {
      Measurement& one = measurements[m];
      reset_peak_memory();
      one.seconds.push_back(run_once(one, pixels[m], nullptr));
      one.peak_memory = std::max(one.peak_memory, peak_memory());
    }
  }
  const int timed = std::min(repetitions.repeat, 3);
  for (int i = 0; i < timed; ++i) {
    for (std::size_t m = 0; m < measurements.size(); ++m) {
      Measurement& one = measurements[m];
      one.parts_pass += run_once(one, pixels[m], &one.parts);
    }
  }
  for (Measurement& one : measurements) {
    for (double* time : {&one.parts.embed, &one.parts.attention, &one.parts.mlp, &one.parts.head,
                         &one.parts_pass}) {
      *time /= timed;
    }
  }
}

PhotoTimes measure_photo(const std::string& path, const image::Specification& specification,
                         int repeat) {
  std::shared_ptr<const MappedFile> file;
  std::vector<std::uint8_t> jpeg;
  Bytes bytes;
  if (path.empty()) {
    jpeg = synthetic_jpeg();
    bytes = std::as_bytes(std::span(jpeg));
  } else {
    file = MappedFile::open(path);
    bytes = file->bytes();
  }
  std::vector<double> decode, prepare;
  for (int i = 0; i < repeat + 1; ++i) {  // the first warms up
    image::Picture picture;
    decode.push_back(seconds_of([&] { picture = image::decode_bytes(bytes, path); }));
    prepare.push_back(seconds_of([&] { image::prepare(picture, specification); }));
  }
  decode.erase(decode.begin());
  prepare.erase(prepare.begin());
  return {spread(decode).median, spread(prepare).median};
}

}  // namespace vitascope::app
