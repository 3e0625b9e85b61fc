#include "app/photo_run.h"

#include <ATen/ATen.h>

#include <chrono>
#include <map>
#include <stdexcept>
#include <utility>

#include "app/device.h"
#include "vit/error.h"
#include "vit/model/patch_embedding.h"

namespace vitascope::app {
namespace {

using datasets::Item;

/// Outputs of the photos of a batch, by position in it.
struct BatchOutput {
  std::vector<model::Output> outputs;
  std::vector<double> milliseconds;
};

at::Tensor row(const at::Tensor& batch, std::int64_t index) {
  return batch.defined() ? batch.narrow(0, index, 1) : batch;
}

at::Tensor on_cpu(const at::Tensor& tensor) { return tensor.defined() ? tensor.cpu() : tensor; }

/// Photos of one size go through the model together.
class Runner {
 public:
  Runner(const weights::Model& model, const RunOptions& run, bool mirrored_too)
      : network_(model.network), device_(device_of(model.network)), mirrored_too_(mirrored_too) {
    forward_.backend = kernels::parse_backend(run.attention);
  }

  /// Marks photos whose size is no multiple of the patches as failed.
  void check(std::vector<Item>& batch) const {
    for (Item& item : batch) {
      if (!item.prepared) continue;
      const at::Tensor& pixels = item.prepared->pixels;
      try {
        model::patch_grid(network_.config(), pixels.size(1), pixels.size(2));
      } catch (const std::invalid_argument& error) {
        item.error = error.what();
        item.prepared.reset();
      }
    }
  }

  BatchOutput run(const std::vector<Item>& batch) const {
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (!batch[i].prepared) continue;
      const at::Tensor& pixels = batch[i].prepared->pixels;
      groups[{pixels.size(1), pixels.size(2)}].push_back(i);
    }
    BatchOutput result{std::vector<model::Output>(batch.size()), std::vector<double>(batch.size())};
    for (const auto& [size, members] : groups) run_group(batch, members, result);
    return result;
  }

 private:
  void run_group(const std::vector<Item>& batch, const std::vector<std::size_t>& members,
                 BatchOutput& result) const {
    const auto start = std::chrono::steady_clock::now();
    std::vector<at::Tensor> pixels;
    pixels.reserve(members.size());
    for (const std::size_t i : members) pixels.push_back(batch[i].prepared->pixels);
    const at::Tensor batch_pixels = at::stack(pixels).to(device_);
    model::Output output = network_.forward(batch_pixels, forward_);
    if (mirrored_too_ && output.logits.defined()) {
      output.logits = (output.logits + network_.forward(batch_pixels.flip(3), forward_).logits) / 2;
    }
    output.tokens = on_cpu(output.tokens);
    output.features = on_cpu(output.features);
    output.logits = on_cpu(output.logits);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    for (std::size_t k = 0; k < members.size(); ++k) {
      const auto index = static_cast<std::int64_t>(k);
      result.outputs[members[k]] = {row(output.tokens, index), row(output.features, index),
                                    row(output.logits, index)};
      result.milliseconds[members[k]] = elapsed.count() / static_cast<double>(members.size());
    }
  }

  const model::VisionTransformer& network_;
  at::Device device_;
  bool mirrored_too_;
  model::ForwardOptions forward_;
};

/// Fails before the first photo where no photo could ever fit.
void check_input_size(const weights::Model& model) {
  const auto size = image::output_size(require_specification(model));
  if (!size) return;
  try {
    model::patch_grid(model.network.config(), size->height, size->width);
  } catch (const std::invalid_argument& error) {
    throw UsageError(std::string("the input size does not fit the model: ") + error.what() +
                     "; --input-size sets another");
  }
}

/// How photos run, whatever they come from.
struct Run {
  const weights::Model& model;
  const RunOptions& options;
  const PhotoOptions& photos;
  int failed = 0;
};

/// \param count of photos that the loader gives
RunReport run_loaded(const Run& run, datasets::Loader& loader, std::size_t count,
                     const PhotoHooks& hooks) {
  const Runner runner(run.model, run.options, run.photos.tta == "flip");
  BatchOutput output;
  const PhotoLoop loop{.compute =
                           [&](std::vector<Item>& batch) {
                             runner.check(batch);
                             output = runner.run(batch);
                           },
                       .use =
                           [&](const Item& item, std::size_t i) {
                             hooks.use({item, output.outputs[i], output.milliseconds[i]});
                           },
                       .failed = hooks.failed,
                       .batch_done = hooks.batch_done};
  return run_loop(loader, count, run.options, run.failed, loop);
}

}  // namespace

RunReport run_photos(const weights::Model& model, const std::vector<std::string>& paths,
                     const RunOptions& run, const PhotoOptions& options, int failed,
                     const PhotoHooks& hooks) {
  check_input_size(model);
  datasets::Loader loader(paths, *model.specification,
                          loader_options(run, options, device_of(model.network).is_cuda()));
  return run_loaded({model, run, options, failed}, loader, paths.size(), hooks);
}

RunReport run_photos(const weights::Model& model, const LabelledPhotos& photos,
                     const RunOptions& run, const PhotoOptions& options, int failed,
                     const PhotoHooks& hooks) {
  check_input_size(model);
  datasets::Loader loader(photos.images, photos.samples, *model.specification,
                          loader_options(run, options, device_of(model.network).is_cuda()));
  return run_loaded({model, run, options, failed}, loader, photos.samples.size(), hooks);
}

}  // namespace vitascope::app
