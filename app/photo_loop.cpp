#include "app/photo_loop.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <csignal>

#include "app/interrupt.h"
#include "app/output.h"
#include "app/progress.h"

namespace vitascope::app {

using datasets::Item;

int RunReport::exit_status() const { return interrupted ? 130 : failed > 0 ? 1 : 0; }

datasets::LoaderOptions loader_options(const RunOptions& run, const PhotoOptions& options,
                                       bool on_gpu) {
  datasets::LoaderOptions loader;
  loader.threads = thread_count(run);
  loader.ahead = std::max<std::size_t>(loader.ahead, 2 * static_cast<std::size_t>(run.batch_size));
  loader.overlap = on_gpu;
  loader.decode = decode_options(options);
  return loader;
}

RunReport run_loop(datasets::Loader& loader, std::size_t count, const RunOptions& run, int failed,
                   const PhotoLoop& loop) {
  const c10::InferenceMode inference;
  const Interrupt interrupt({SIGINT, SIGTERM});
  Progress progress(count, run.quiet);
  RunReport report{0, failed, false};
  std::size_t seen = 0;
  while (seen < count) {
    std::vector<Item> batch = loader.next(static_cast<std::size_t>(run.batch_size));
    loop.compute(batch);
    progress.clear();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Item& item = batch[i];
      try {
        if (!item.prepared) throw InputError(item.path, item.error);
        if (!item.warning.empty() && !run.quiet) {
          output::warning(item.path + ": " + item.warning);
        }
        loop.use(item, i);
        ++report.done;
      } catch (const InputError& error) {
        output::error(error.what());
        ++report.failed;
        if (loop.failed) loop.failed(item, error);
      }
    }
    if (loop.batch_done) loop.batch_done();
    seen += batch.size();
    report.interrupted = interrupt.requested();
    if (report.interrupted) break;
    progress.show(seen);
  }
  return report;
}

}  // namespace vitascope::app
