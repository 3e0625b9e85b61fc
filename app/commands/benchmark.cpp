#include "app/commands/benchmark.h"

#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/benchmark.h"
#include "app/cpu_info.h"
#include "app/device.h"
#include "app/options.h"
#include "app/output.h"
#include "app/values.h"
#include "vit/error.h"
#include "vit/model/architectures.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  ModelOptions model;
  RunOptions run;
  std::vector<long> batch_sizes{1, 8};
  std::vector<std::string> precisions{"fp32"};
  std::vector<std::string> attentions{"auto"};
  Repetitions repetitions;
  std::string image;
  std::string format = "text";
};

// What all measurements have in common.
struct Setting {
  std::string model;
  std::string architecture;  // empty for a model from disk
  image::Size input;
  std::int64_t flops = 0;  // an image
  int threads = 1;
  std::string device;
  std::string cpu;
  PhotoTimes photo;
};

weights::Model random_model(const Options& options, const RunOptions& run) {
  const at::Device device = open_device(run.device, run.verbose);
  apply_threads(run);
  weights::OpenOptions open = open_options(options.model, run);
  open.pack = device.is_cpu();
  weights::Model model = weights::random_model(options.model.model, open);
  move_to(model.network, device);
  return model;
}

// An architecture by name, unless a file or folder has that name.
bool names_architecture(const std::string& model) {
  return model::architecture(model).has_value() && !std::filesystem::exists(model);
}

weights::Model open(const Options& options, const std::string& precision) {
  RunOptions run = options.run;
  run.precision = precision;
  run.quiet = true;  // the table itself says which precision is quicker here
  const std::string& name = options.model.model;
  if (names_architecture(name)) return random_model(options, run);
  try {
    return open_model(options.model, run, /*pack=*/true);
  } catch (const InputError& error) {
    const std::string nearest = nearest_name(name, model::architecture_names());
    if (nearest.empty() || std::filesystem::exists(name)) throw;
    throw UsageError(
        fmt::format("{}; or did you mean the architecture {}?", error.what(), nearest));
  }
}

// Random weights come without a specification; then the photo is squashed to the input size.
image::Specification photo_specification(const weights::Model& model) {
  if (model.specification) return *model.specification;
  const model::Config& config = model.network.config();
  image::Specification squash;
  squash.size = {config.native_grid.columns * config.patch, config.native_grid.rows * config.patch};
  return squash;
}

image::Size input_size(const weights::Model& model) {
  if (const auto size = image::output_size(photo_specification(model))) return *size;
  const model::Config& config = model.network.config();
  return {config.native_grid.columns * config.patch, config.native_grid.rows * config.patch};
}

std::string render_json(const Setting& setting, const Measurement& one) {
  const Spread times = spread(one.seconds);
  const double images = double(one.batch_size);
  const auto part = [&](double seconds) { return 1000 * seconds / images; };
  const Json json{{"model", setting.model},
                  {"architecture", setting.architecture},
                  {"input_height", setting.input.height},
                  {"input_width", setting.input.width},
                  {"batch_size", one.batch_size},
                  {"precision", one.precision},
                  {"threads", setting.threads},
                  {"attention", kernels::backend_name(one.backend)},
                  {"milliseconds_median", 1000 * times.median},
                  {"milliseconds_min", 1000 * times.min},
                  {"milliseconds_lower_quartile", 1000 * times.lower_quartile},
                  {"milliseconds_upper_quartile", 1000 * times.upper_quartile},
                  {"milliseconds_max", 1000 * times.max},
                  {"repeat", one.seconds.size()},
                  {"milliseconds_per_image", 1000 * times.median / images},
                  {"images_per_second", images / times.median},
                  {"gflops", images * double(setting.flops) / times.median / 1e9},
                  {"peak_memory_bytes", one.peak_memory},
                  {"parts",
                   {{"decode", 1000 * setting.photo.decode},
                    {"resize", 1000 * setting.photo.prepare},
                    {"embed", part(one.parts.embed)},
                    {"attention", part(one.parts.attention)},
                    {"mlp", part(one.parts.mlp)},
                    {"head", part(one.parts.head)}}},
                  {"device", setting.device},
                  {"cpu", setting.cpu}};
  return output::json_line(json);
}

std::string text_heading(const Setting& setting) {
  return fmt::format(
      "{}{}, {} x {} pixels, {} an image\n{}, {} threads on {}\n\n"
      "{:>5} {:>4} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>9}\n",
      printable(setting.model), setting.architecture.empty() ? "" : " with random weights",
      setting.input.height, setting.input.width, operation_count(double(setting.flops)),
      setting.cpu, setting.threads, setting.device, "batch", "", "attn", "median ms", "min",
      "quarter", "3 quarter", "max", "images/s", "GFLOP/s", "peak");
}

std::string text_row(const Setting& setting, const Measurement& one) {
  const Spread t = spread(one.seconds);
  const double images = double(one.batch_size);
  return fmt::format(
      "{:>5} {:>4} {:>5} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.1f} {:>8.1f} {:>9}\n",
      one.batch_size, one.precision, kernels::backend_name(one.backend), 1000 * t.median,
      1000 * t.min, 1000 * t.lower_quartile, 1000 * t.upper_quartile, 1000 * t.max,
      images / t.median, images * double(setting.flops) / t.median / 1e9,
      byte_count(std::uint64_t(one.peak_memory)));
}

std::string text_parts(const Setting& setting, const std::vector<Measurement>& measurements) {
  std::string text = fmt::format(
      "\nmilliseconds an image by part\n{:>5} {:>4} {:>5} {:>9} {:>9} {:>9} "
      "{:>9} {:>9} {:>9}\n",
      "batch", "", "attn", "decode", "resize", "embed", "attention", "MLP", "head");
  for (const Measurement& one : measurements) {
    const double milliseconds = 1000 / double(one.batch_size);
    text += fmt::format("{:>5} {:>4} {:>5} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f}\n",
                        one.batch_size, one.precision, kernels::backend_name(one.backend),
                        1000 * setting.photo.decode, 1000 * setting.photo.prepare,
                        milliseconds * one.parts.embed, milliseconds * one.parts.attention,
                        milliseconds * one.parts.mlp, milliseconds * one.parts.head);
  }
  return text;
}

std::vector<Measurement> configurations(const Options& options,
                                        const std::map<std::string, weights::Model>& models) {
  std::vector<Measurement> measurements;
  for (const long batch : options.batch_sizes) {
    for (const std::string& precision : options.precisions) {
      for (const std::string& attention : options.attentions) {
        Measurement one;
        one.batch_size = batch;
        one.precision = precision;
        one.backend = kernels::parse_backend(attention);
        one.network = &models.at(precision).network;
        measurements.push_back(std::move(one));
      }
    }
  }
  return measurements;
}

int benchmark(const Options& options) {
  const output::Format format = output::parse_format(options.format);
  std::map<std::string, weights::Model> models;
  for (const std::string& precision : options.precisions) {
    if (!models.contains(precision)) models.emplace(precision, open(options, precision));
  }
  const c10::InferenceMode guard;
  const weights::Model& model = models.begin()->second;
  const model::Config& config = model.network.config();
  Setting setting;
  setting.threads = thread_count(options.run);
  setting.model = options.model.model;
  if (names_architecture(options.model.model)) setting.architecture = options.model.model;
  setting.input = input_size(model);
  setting.flops = model::flops(
      config, {setting.input.height / config.patch, setting.input.width / config.patch});
  setting.device = device_of(model.network).str();
  setting.cpu = cpu_info().name;
  setting.photo =
      measure_photo(options.image, photo_specification(model), options.repetitions.repeat);

  std::vector<Measurement> measurements = configurations(options, models);
  measure(measurements, setting.input, options.repetitions);
  std::string text = format == output::Format::json ? "" : text_heading(setting);
  for (const Measurement& one : measurements) {
    text += format == output::Format::json ? render_json(setting, one) : text_row(setting, one);
  }
  if (format != output::Format::json) text += text_parts(setting, measurements);
  output::print(text);
  return 0;
}

void add_configurations(CLI::App& command, Options& options) {
  const std::string group = "Configurations (lists, as in 1,8: all combinations are measured)";
  command.add_option("--batch-sizes", options.batch_sizes, "photos a forward pass")
      ->type_name("N,...")
      ->delimiter(',')
      ->check(whole_number(1, 65536))
      ->group(group);
  command.add_option("--precisions", options.precisions, "arithmetic of the model")
      ->type_name("fp32|bf16,...")
      ->delimiter(',')
      ->check(one_of({"fp32", "bf16"}))
      ->group(group);
  command.add_option("--attention", options.attentions, "attention kernels")
      ->type_name("auto|fused|sdpa|math,...")
      ->delimiter(',')
      ->check(one_of(kernels::backend_names()))
      ->group(group);
}

void add_measuring(CLI::App& command, Options& options) {
  const std::string group = "Measuring";
  command.add_option("--repeat", options.repetitions.repeat, "timed passes of each configuration")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000))
      ->group(group);
  command.add_option("--warmup", options.repetitions.warm_up, "passes before them, not timed")
      ->type_name("N")
      ->check(whole_number(0, 1'000'000))
      ->group(group);
  command
      .add_option("--image", options.image,
                  "photo to decode and resize, instead of a JPEG of 500 x 375 made in memory")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--threads", options.run.threads,
                  "threads; 0 takes the cores that this process may use")
      ->type_name("N")
      ->check(whole_number(0, 1024))
      ->group(group);
  command
      .add_option("--device", options.run.device,
                  "where the model runs; auto takes a GPU if one answers")
      ->type_name("auto|cpu|cuda[:N]")
      ->check(accepted_by(parse_device))
      ->group(group);
  command.add_option("--format", options.format, "text, or JSON (one object a line)")
      ->type_name("text|json")
      ->check(one_of({"text", "json"}))
      ->group(group);
}

}  // namespace

std::function<int()> declare_benchmark(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  add_model_options(command, options->model);
  command.get_option("--model")->description(
      "a model, or an architecture's name (vit_base_patch16_224, ...) for random weights");
  add_configurations(command, *options);
  add_measuring(command, *options);
  command.footer(
      R"(Configurations are run in turn, round after round. Times are of one forward pass of a batch; parts are
milliseconds an image, measured in passes of their own; the peak is the whole process's, weights of
every precision included. JSON keys: model, architecture, input_height, input_width, batch_size,
precision, threads, attention, milliseconds_median, _min, _lower_quartile, _upper_quartile, _max,
_per_image, repeat, images_per_second, gflops, peak_memory_bytes, parts {decode, resize, embed,
attention, mlp, head}, device, cpu.
Example:
  vitascope benchmark --model vit_base_patch16_224 --batch-sizes 1,8 --precisions fp32,bf16)");
  return [options] { return benchmark(*options); };
}

}  // namespace vitascope::app
