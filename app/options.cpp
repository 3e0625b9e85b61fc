#include "app/options.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <utility>

#include "app/device.h"
#include "app/output.h"
#include "app/values.h"
#include "datasets/image_folder.h"
#include "kernels/cpu/isa.h"
#include "kernels/linear.h"
#include "vit/error.h"
#include "vit/model/packed.h"
#include "vit/text.h"
#include "vit/train/lora.h"

namespace vitascope::app {
namespace {

/// One path a line; empty lines and a carriage return at a line's end are left out.
void read_list(std::istream& stream, std::vector<std::string>& inputs) {
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) inputs.push_back(line);
  }
}

void print_notes(const weights::Model& model) {
  output::note("model: " + model.name + ", " + model.key_style + ", " + model.stored_dtype);
  if (!model.label_source.empty()) output::note("labels: " + model.label_source);
  if (model.specification) output::note("input: " + image::describe(*model.specification));
  for (const std::string& text : model.notes) output::note(text);
}

/// The model with an adapter merged into it, which needs its exact weights.
weights::Model open_adapted(const ModelOptions& options, const weights::OpenOptions& wanted) {
  weights::OpenOptions exact = wanted;
  exact.precision = at::kFloat;
  exact.pack = false;
  weights::Model model = weights::open_model(options.model, exact);
  train::Adapted adapted = train::with_adapter(model.network, options.adapter);
  train::merge_lora(adapted.network);
  model.network = std::move(adapted.network);
  if (options.labels.empty()) {
    model.labels = std::move(adapted.labels);
    model.label_source = options.adapter;
  }
  for (const auto& [name, slot] : model.network.parameters()) *slot = slot->to(wanted.precision);
  if (wanted.pack) model::pack_products(model.network);
  return model;
}

/// Says which attention kernels will run on tensors such as `q`, and why no others.
void note_attention(const RunOptions& run, const at::Tensor& q) {
  const auto choice =
      kernels::choose_backend(q, {.backend = kernels::parse_backend(run.attention)});
  std::string text = std::string("attention: ") + kernels::backend_name(choice.backend);
  if (choice.backend == kernels::Backend::fused && q.is_cpu()) {
    text += fmt::format(" ({})", kernels::cpu::isa_name(kernels::cpu::chosen_isa()));
  }
  output::note(choice.reason.empty() ? text : text + "; " + choice.reason);
}

}  // namespace

void add_model_options(CLI::App& command, ModelOptions& options) {
  const std::string model = "Model";
  const std::string input = "Input, where it is not to be as the model's own files say";
  const auto add = [&](const std::string& group, const char* name, std::string& value,
                       const char* type, const char* help) {
    return command.add_option(name, value, help)->type_name(type)->group(group);
  };
  add(model, "-m,--model", options.model, "MODEL",
      "a folder, a weight file, or org/name[@revision] that is in a cache");
  add(model, "--architecture", options.architecture, "NAME",
      "timm's name, for a weight file without a configuration");
  add(model, "--labels", options.labels, "FILE",
      "names of the classes, one a line, instead of the model's own");
  add(model, "--adapter", options.adapter, "FILE",
      "what LoRA learned on top of the model: adapter/adapter.safetensors of a run");
  add(input, "--preprocessor", options.preprocessor, "FILE", "another preprocessor_config.json");
  add(input, "--input-size", options.input_size, "SIZE", "384, or 384x224 (height x width)")
      ->check(accepted_by(parse_size));
  add(input, "--resize", options.resize, "HOW",
      "squash:SIZE, shortest:EDGE, longest:SIZE (padded) or none")
      ->check(accepted_by(parse_resize));
  add(input, "--crop", options.crop, "SIZE", "centre crop after resizing, or none")
      ->check(accepted_by(parse_crop));
  add(input, "--interpolation", options.interpolation, "FILTER",
      "nearest, box, bilinear, hamming, bicubic or lanczos")
      ->check(accepted_by(parse_filter));
  add(input, "--mean", options.mean, "R,G,B", "mean of the channels, which run from 0 to 1")
      ->check(accepted_by(parse_channels));
  add(input, "--std", options.std, "R,G,B", "standard deviation of the channels")
      ->check(accepted_by(parse_channels));
}

void add_run_options(CLI::App& command, RunOptions& options) {
  const std::string group = "Running";
  command
      .add_option("--device", options.device,
                  "where the model runs; auto takes a GPU if one answers")
      ->type_name("auto|cpu|cuda[:N]")
      ->check(accepted_by(parse_device))
      ->group(group);
  command
      .add_option("--threads", options.threads,
                  "threads; 0 takes the cores that this process may use")
      ->type_name("N")
      ->check(whole_number(0, 1024))
      ->group(group);
  command.add_option("--precision", options.precision, "arithmetic of the model")
      ->type_name("fp32|bf16")
      ->check(one_of({"fp32", "bf16"}))
      ->group(group);
  command.add_option("--attention", options.attention, "which attention kernel")
      ->type_name("auto|fused|sdpa|math")
      ->check(one_of(kernels::backend_names()))
      ->group(group);
  command
      .add_option("--batch-size", options.batch_size, "photos that go through the model at once")
      ->type_name("N")
      ->check(whole_number(1, 65536))
      ->group(group);
  command.add_flag("-q,--quiet", options.quiet, "only results and errors")->group(group);
  command.add_flag("-v,--verbose", options.verbose, "say what was decided on the way")
      ->group(group);
}

void add_decode_options(CLI::App& command, PhotoOptions& options) {
  const std::string group = "Photos";
  command
      .add_flag("--allow-truncated", options.allow_truncated,
                "a damaged JPEG is a warning, not an error")
      ->group(group);
  command.add_option("--max-pixels", options.max_pixels, "largest photo, in megapixels")
      ->type_name("N")
      ->check(number(0.001, 100000))
      ->group(group);
}

void add_tta_option(CLI::App& command, PhotoOptions& options) {
  command
      .add_option("--tta", options.tta,
                  "test-time augmentation; flip: the mean logits of a photo and its mirror image")
      ->type_name("none|flip")
      ->check(one_of({"none", "flip"}))
      ->group("Photos");
}

void add_photo_options(CLI::App& command, PhotoOptions& options) {
  const std::string group = "Photos";
  command.add_option("inputs", options.inputs, "photos, folders, globs, or - for a list on stdin")
      ->type_name("INPUT")
      ->group(group);
  command.add_flag("-r,--recursive", options.recursive, "also the folders inside folders")
      ->group(group);
  add_decode_options(command, options);
}

weights::OpenOptions open_options(const ModelOptions& options, const RunOptions& run) {
  weights::OpenOptions open;
  open.architecture = options.architecture;
  open.labels_file = options.labels;
  open.preprocessor_file = options.preprocessor;
  if (!options.input_size.empty()) open.input_size = parse_size(options.input_size);
  if (run.precision == "bf16") open.precision = at::kBFloat16;
  return open;
}

void apply_specification_flags(const ModelOptions& options, weights::Model& model) {
  const std::pair<const char*, const std::string*> flags[] = {
      {"--resize", &options.resize},
      {"--interpolation", &options.interpolation},
      {"--mean", &options.mean},
      {"--std", &options.std},
      {"--crop", &options.crop}};
  std::vector<std::string> given, missing;
  for (const auto& [name, value] : flags) (value->empty() ? missing : given).emplace_back(name);
  if (given.empty()) return;
  if (!model.specification) {
    // No crop is a fair reading of silence; the rest is not to be guessed.
    std::erase(missing, "--crop");
    if (!missing.empty()) {
      throw UsageError(fmt::format("{}; {} given, but not {}", model.specification_missing,
                                   fmt::join(given, ", "), fmt::join(missing, ", ")));
    }
    model.specification.emplace();
  }
  image::Specification& specification = *model.specification;
  if (!options.resize.empty()) {
    const Resize resize = parse_resize(options.resize);
    specification.resize = resize.mode;
    specification.size = resize.size;
    specification.edge = resize.edge;
  }
  if (!options.crop.empty()) specification.crop = parse_crop(options.crop);
  if (!options.interpolation.empty()) specification.filter = parse_filter(options.interpolation);
  if (!options.mean.empty()) specification.mean = parse_channels(options.mean);
  if (!options.std.empty()) specification.std = parse_channels(options.std);
  if (!options.mean.empty() || !options.std.empty()) specification.normalise = true;
  const std::string separator = specification.source.empty() ? "" : ", ";
  specification.source += fmt::format("{}{}", separator, fmt::join(given, ", "));
}

void warn_of_precision(const RunOptions& run, at::Device device) {
  if (run.quiet || run.precision != "bf16" || !device.is_cpu()) return;
  if (kernels::has_product(at::kBFloat16)) return;
  output::warning(
      "this processor has no products in bf16, which needs AVX-512 or newer: --precision fp32 is "
      "several times as fast");
}

weights::Model open_model(const ModelOptions& options, const RunOptions& run, bool pack) {
  if (options.model.empty()) {
    throw UsageError(
        "no model is given; --model takes a folder, a weight file, or org/name of a "
        "model that was downloaded");
  }
  const at::Device device = open_device(run.device, run.verbose);
  apply_threads(run);
  warn_of_precision(run, device);
  weights::OpenOptions open = open_options(options, run);
  open.pack = pack && device.is_cpu();
  weights::Model model = options.adapter.empty() ? weights::open_model(options.model, open)
                                                 : open_adapted(options, open);
  apply_specification_flags(options, model);
  move_to(model.network, device);
  if (run.verbose) {
    print_notes(model);
    const model::Config& config = model.network.config();
    note_attention(run, at::empty({1, config.heads, 1, config.head_width()},
                                  at::TensorOptions(open.precision).device(device)));
  }
  return model;
}

void require_head(const weights::Model& model) {
  if (model.network.config().classes > 0) return;
  throw UsageError(model.name +
                   " has no classification head, only a backbone; 'vitascope embed' gives its "
                   "features, or name a model that was fine-tuned for classification");
}

const image::Specification& require_specification(const weights::Model& model) {
  if (!model.specification) throw UsageError(model.specification_missing);
  return *model.specification;
}

int thread_count(const RunOptions& run) {
  return run.threads > 0 ? run.threads : available_cores();
}

int apply_threads(const RunOptions& run) {
  const int threads = thread_count(run);
  at::set_num_threads(threads);
  // LibTorch takes this number once; nothing here runs operators side by side.
  static const bool inter_op = (at::set_num_interop_threads(1), true);
  static_cast<void>(inter_op);
  return threads;
}

image::DecodeOptions decode_options(const PhotoOptions& options) {
  return {options.max_pixels, options.allow_truncated};
}

std::vector<std::string> find_photos(const PhotoOptions& options, int& failed) {
  if (options.inputs.empty()) {
    throw UsageError("no photos are given; name files, folders or globs, or - for a list on stdin");
  }
  std::vector<std::string> inputs;
  bool stdin_read = false;
  for (const std::string& input : options.inputs) {
    if (input != "-") {
      inputs.push_back(input);
    } else if (!stdin_read) {
      read_list(std::cin, inputs);
      stdin_read = true;
    }
  }
  if (inputs.empty()) throw UsageError("the list on stdin is empty; it holds one path a line");
  const datasets::ImageList list = datasets::list_images(inputs, options.recursive);
  for (const std::string& failure : list.failures) output::error(failure);
  failed += static_cast<int>(list.failures.size());
  return list.paths;
}

}  // namespace vitascope::app
