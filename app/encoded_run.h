#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/photo_loop.h"
#include "vit/caption/encoder.h"

/// \file
/// Photos through an encoder: decoded ahead, in batches, in order.
namespace vitascope::app {

/// One photo and what a decoder sees of it.
struct EncodedPhoto {
  const datasets::Item& photo;
  caption::Annotations annotations;  ///< of a batch of 1
};

/// The size that an encoder sees all photos in.
/// \throws UsageError when photos would not all get one size
image::Size encoded_size(const caption::Encoder& encoder);

/// Runs the photos in batches and hands each to `use`, in the order of `paths`; \see run_loop.
/// \param failed inputs that failed before, for the report
/// \throws UsageError as encoded_size does
RunReport encode_photos(const caption::Encoder& encoder, const std::vector<std::string>& paths,
                        const RunOptions& run, const PhotoOptions& options, int failed,
                        const std::function<void(const EncodedPhoto&)>& use);

}  // namespace vitascope::app
