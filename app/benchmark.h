#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "app/measure.h"
#include "kernels/attention.h"
#include "vit/image/specification.h"
#include "vit/model/vision_transformer.h"

/// \file
/// Times of a model by configuration and by part.
namespace vitascope::app {

/// One way of running a model, and what it took.
struct Measurement {
  std::int64_t batch_size = 1;
  std::string precision;  ///< fp32, bf16
  kernels::Backend backend = kernels::Backend::automatic;
  const model::VisionTransformer* network = nullptr;  ///< in that precision; not owned

  std::vector<double> seconds;   ///< of each repetition: one forward pass of a batch
  model::PartTimes parts;        ///< seconds of one pass, from passes that time their parts
  double parts_pass = 0;         ///< seconds of such a pass as a whole
  std::int64_t peak_memory = 0;  ///< bytes, of the process, during the repetitions
};

/// How often each configuration runs.
struct Repetitions {
  int warm_up = 2;
  int repeat = 10;
};

/// Runs every measurement `repeat` times on random pixels, one after another and round again, so
/// that a machine that grows busy does so for all of them. Parts are timed in passes of their own,
/// since timing them takes time.
void measure(std::vector<Measurement>& measurements, image::Size input, Repetitions repetitions);

/// Seconds to decode and to prepare (resize, crop, normalise) one photo: medians.
struct PhotoTimes {
  double decode = 0, prepare = 0;
};

/// \param path a photo, or "" for a JPEG of 500 x 375 made in memory
/// \throws InputError when the photo can't be decoded
PhotoTimes measure_photo(const std::string& path, const image::Specification& specification,
                         int repeat);

}  // namespace vitascope::app
