#include "app/encoded_run.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <utility>

#include "app/interrupt.h"
#include "app/output.h"
#include "app/progress.h"
#include "vit/error.h"

namespace vitascope::app {
namespace {

using datasets::Item;

/// The annotations of those photos that were prepared, in their order.
caption::Annotations encoded(const caption::Encoder& encoder, const std::vector<Item>& batch) {
  std::vector<at::Tensor> pixels;
  pixels.reserve(batch.size());
  for (const Item& item : batch) {
    if (item.prepared) pixels.push_back(item.prepared->pixels);
  }
  return pixels.empty() ? caption::Annotations{} : encoder.annotate(at::stack(pixels));
}

}  // namespace

RunReport encode_photos(const caption::Encoder& encoder, const std::vector<std::string>& paths,
                        const RunOptions& run, const PhotoOptions& options, int failed,
                        const std::function<void(const EncodedPhoto&)>& use) {
  if (!image::output_size(encoder.specification())) {
    throw UsageError("photos would not all get one size: --input-size says which");
  }
  datasets::LoaderOptions loading;
  loading.threads = thread_count(run);
  loading.decode = decode_options(options);
  datasets::Loader loader(paths, encoder.specification(), loading);
  const c10::InferenceMode inference;
  const Interrupt interrupt;
  Progress progress(paths.size(), run.quiet);
  RunReport report{0, failed, false};
  for (std::size_t seen = 0; seen < paths.size() && !report.interrupted;) {
    const std::vector<Item> batch = loader.next(static_cast<std::size_t>(run.batch_size));
    const caption::Annotations all = encoded(encoder, batch);
    progress.clear();
    std::int64_t row = 0;
    for (const Item& item : batch) {
      try {
        if (!item.prepared) throw InputError(item.path, item.error);
        if (!item.warning.empty() && !run.quiet) {
          output::warning(item.path + ": " + item.warning);
        }
        use({item, {all.values.narrow(0, row++, 1), all.rows, all.columns}});
        ++report.done;
      } catch (const InputError& error) {
        output::error(error.what());
        ++report.failed;
      }
    }
    seen += batch.size();
    report.interrupted = interrupt.requested();
    progress.show(seen);
  }
  progress.clear();
  return report;
}

}  // namespace vitascope::app
