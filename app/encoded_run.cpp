#include "app/encoded_run.h"

#include <ATen/ATen.h>

#include <optional>
#include <utility>

#include "vit/error.h"

namespace vitascope::app {
namespace {

using datasets::Item;

/// What is seen of the photos of a batch.
struct EncodedBatch {
  caption::Annotations annotations{};  ///< of those that were prepared, in their order
  std::vector<std::int64_t> rows{};    ///< of each photo
};

EncodedBatch encoded(const caption::Encoder& encoder, const std::vector<Item>& batch) {
  EncodedBatch result;
  std::vector<at::Tensor> pixels;
  pixels.reserve(batch.size());
  result.rows.reserve(batch.size());
  for (const Item& item : batch) {
    result.rows.push_back(std::ssize(pixels));
    if (item.prepared) pixels.push_back(item.prepared->pixels);
  }
  if (!pixels.empty()) result.annotations = encoder.annotate(at::stack(pixels));
  return result;
}

}  // namespace

image::Size encoded_size(const caption::Encoder& encoder) {
  const std::optional<image::Size> size = image::output_size(encoder.specification());
  if (!size) throw UsageError("photos would not all get one size: --input-size says which");
  return *size;
}

RunReport encode_photos(const caption::Encoder& encoder, const std::vector<std::string>& paths,
                        const RunOptions& run, const PhotoOptions& options, int failed,
                        const std::function<void(const EncodedPhoto&)>& use) {
  encoded_size(encoder);
  datasets::Loader loader(paths, encoder.specification(),
                          loader_options(run, options, /*on_gpu=*/false));
  EncodedBatch seen;
  const PhotoLoop loop{
      .compute = [&](const std::vector<Item>& batch) { seen = encoded(encoder, batch); },
      .use =
          [&](const Item& item, std::size_t i) {
            const caption::Annotations& all = seen.annotations;
            use({item, {all.values.narrow(0, seen.rows[i], 1), all.rows, all.columns}});
          }};
  return run_loop(loader, paths.size(), run, failed, loop);
}

}  // namespace vitascope::app
