#include "app/commands/info.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/version.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/cpu_info.h"
#include "app/device.h"
#include "app/measure.h"
#include "app/options.h"
#include "app/output.h"
#include "app/values.h"
#include "kernels/attention.h"
#include "kernels/cpu/isa.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  ModelOptions model;
  std::string format = "text";
};

// Lines of "name   value"; one name may have several lines.
class Table {
 public:
  void add(const std::string& name, const std::string& value) {
    text_ += fmt::format("{:<16} {}\n", name, printable(value));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string joined(const std::vector<std::string>& words) {
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, " "));
}

std::vector<std::string> isa_names() {
  const auto& isas = kernels::cpu::available_isas();
  std::vector<std::string> names;
  names.reserve(isas.size());
  for (const auto isa : isas) {
    names.emplace_back(kernels::cpu::isa_name(isa));
  }
  return names;
}

// Whether a GPU can be used: {"cuda:0", ""} or {"", why not}.
std::pair<std::string, std::string> cuda_state() {
  try {
    return {open_device("cuda", false).str(), ""};
  } catch (const UsageError& error) {
    std::string reason = error.what();
    const std::string prefix = "--device cuda: ";
    if (reason.starts_with(prefix)) reason.erase(0, prefix.size());
    return {"", reason};
  }
}

std::string machine_info(output::Format format) {
  // Before anything else: LibTorch asks for its CUDA part once.
  const auto [gpu, no_gpu] = cuda_state();
  const CpuInfo cpu = cpu_info();
  const std::string capability = at::get_cpu_capability();
  const int threads = apply_threads(RunOptions{});
  if (format == output::Format::json) {
    Json json{{"version", VITASCOPE_VERSION},
              {"libtorch", TORCH_VERSION},
              {"cpu", cpu.name},
              {"instruction_sets", cpu.instruction_sets},
              {"libtorch_cpu_capability", capability},
              {"cores", available_cores()},
              {"threads", threads},
              {"attention_backends", kernels::backend_names()},
              {"kernels", kernels::cpu::isa_name(kernels::cpu::chosen_isa())},
              {"kernels_available", isa_names()},
              {"devices", gpu.empty() ? Json{"cpu"} : Json{"cpu", gpu}}};
    json["cuda_unavailable"] = no_gpu.empty() ? Json() : Json(no_gpu);
    return output::json_line(json);
  }
  Table table;
  table.add("vitascope", VITASCOPE_VERSION);
  table.add("LibTorch", TORCH_VERSION);
  table.add("CPU", cpu.name);
  table.add("instructions", joined(cpu.instruction_sets));
  table.add("in use", fmt::format("own kernels for {} (of {}), LibTorch's for {}",
                                  kernels::cpu::isa_name(kernels::cpu::chosen_isa()),
                                  joined(isa_names()), capability));
  table.add("cores",
            fmt::format("{} granted to this process, {} threads", available_cores(), threads));
  table.add("attention", joined(kernels::backend_names()));
  table.add("device", "cpu");
  table.add(gpu.empty() ? "no CUDA" : "device", gpu.empty() ? no_gpu : gpu);
  return table.text();
}

// Bytes that the parameters take in memory.
std::int64_t weight_bytes(const weights::Model& model) {
  std::int64_t bytes = 0;
  model::VisionTransformer network = model.network;  // parameters() hands out slots to write to
  for (const auto& [name, parameter] : network.parameters()) {
    if (parameter->defined()) bytes += std::int64_t(parameter->nbytes());
  }
  return bytes;
}

image::Size input_size(const weights::Model& model) {
  if (model.specification) {
    if (const auto size = image::output_size(*model.specification)) return *size;
  }
  const model::Config& config = model.network.config();
  return {config.native_grid.columns * config.patch, config.native_grid.rows * config.patch};
}

std::int64_t flops_an_image(const model::Config& config, image::Size input) {
  return model::flops(config, {input.height / config.patch, input.width / config.patch});
}

std::string layer_text(const model::Config& config) {
  std::string text = fmt::format("{} blocks, width {}, {} heads of {}, {} {}, patch {}",
                                 config.depth, config.width, config.heads, config.head_width(),
                                 config.swiglu ? "SwiGLU" : "MLP", config.mlp_width, config.patch);
  if (!config.stem.empty()) {
    text += fmt::format(", stem of {} convolutions", config.stem.size());
  }
  if (config.class_token) text += ", class token";
  if (config.distillation_token) text += ", distillation token";
  if (config.registers > 0) text += fmt::format(", {} registers", config.registers);
  if (config.layer_scale) text += ", LayerScale";
  if (config.qk_norm) text += ", norm of queries and keys";
  return text;
}

const char* pooling_name(model::Pooling pooling) {
  switch (pooling) {
    case model::Pooling::class_token:
      return "class token";
    case model::Pooling::mean_patches:
      return "mean of the patch tokens";
    case model::Pooling::class_and_mean:
      return "class token and mean of the patch tokens";
    case model::Pooling::first_two:
      return "class and distillation token, a head each";
  }
  throw InternalError("pooling_name: unknown pooling");
}

std::string labels_text(const weights::Model& model) {
  const int classes = model.network.config().classes;
  if (classes == 0) return "none: a backbone without a head";
  constexpr std::size_t shown = 5;
  std::string text = fmt::format("{}", classes);
  if (model.network.config().multi_label) text += ", several may hold for one photo (sigmoid)";
  for (std::size_t i = 0; i < std::min(shown, model.labels.size()); ++i) {
    text += (i == 0 ? ": " : ", ") + model.labels[i];
  }
  if (model.labels.size() > shown) text += ", ...";
  if (!model.label_source.empty()) text += " (from " + model.label_source + ")";
  return text;
}

std::string model_text(const weights::Model& model) {
  const model::Config& config = model.network.config();
  const image::Size input = input_size(model);
  Table table;
  table.add("model", model.name);
  table.add("family", config.family);
  table.add("layers", layer_text(config));
  table.add("parameters",
            fmt::format("{:.4g} million ({})", double(model::parameter_count(config)) / 1e6,
                        model::parameter_count(config)));
  table.add("memory", byte_count(std::uint64_t(weight_bytes(model))) + " of weights in float32");
  table.add("input", fmt::format("{} x {} pixels, {} an image", input.height, input.width,
                                 operation_count(double(flops_an_image(config, input)))));
  table.add("image", model.specification ? image::describe(*model.specification)
                                         : "not said: " + model.specification_missing);
  if (model.specification && !model.specification->source.empty()) {
    table.add("", "from " + model.specification->source);
  }
  table.add("head reads", pooling_name(config.pooling));
  if (config.neighbours) {
    table.add("head", fmt::format("the vote of the {} nearest of {} photos, temperature {:g}",
                                  config.neighbours->count, config.neighbours->total(),
                                  config.neighbours->temperature));
  }
  table.add("labels", labels_text(model));
  for (std::size_t i = 0; i < model.files.size(); ++i) {
    table.add(i == 0 ? "files" : "", model.files[i]);
  }
  table.add("keys", model.key_style);
  table.add("stored as", model.stored_dtype);
  for (std::size_t i = 0; i < model.notes.size(); ++i) {
    table.add(i == 0 ? "notes" : "", model.notes[i]);
  }
  return table.text();
}

std::string model_json(const weights::Model& model) {
  const model::Config& config = model.network.config();
  const image::Size input = input_size(model);
  Json json{{"model", model.name},
            {"family", config.family},
            {"parameters", model::parameter_count(config)},
            {"flops_per_image", flops_an_image(config, input)},
            {"weight_bytes", weight_bytes(model)},
            {"width", config.width},
            {"depth", config.depth},
            {"heads", config.heads},
            {"mlp_width", config.mlp_width},
            {"patch", config.patch},
            {"stem", config.stem},
            {"registers", config.registers},
            {"input_height", input.height},
            {"input_width", input.width},
            {"classes", config.classes},
            {"multi_label", config.multi_label},
            {"labels", model.labels},
            {"label_source", model.label_source},
            {"files", model.files},
            {"key_style", model.key_style},
            {"stored_dtype", model.stored_dtype},
            {"notes", model.notes}};
  json["neighbours"] = Json();
  if (config.neighbours) {
    json["neighbours"] = {{"count", config.neighbours->count},
                          {"temperature", config.neighbours->temperature},
                          {"photos", config.neighbours->photos}};
  }
  json["specification"] = Json();
  json["specification_missing"] = Json();
  if (model.specification) {
    json["specification"] = {{"text", image::describe(*model.specification)},
                             {"mean", model.specification->mean},
                             {"std", model.specification->std},
                             {"source", model.specification->source}};
  } else {
    json["specification_missing"] = model.specification_missing;
  }
  return output::json_line(json);
}

int info(const Options& options) {
  const output::Format format = output::parse_format(options.format);
  if (options.model.model.empty()) {
    output::print(machine_info(format));
    return 0;
  }
  const weights::Model model =
      open_model(options.model, RunOptions{.device = "cpu"}, /*pack=*/false);
  const c10::InferenceMode guard;
  output::print(format == output::Format::json ? model_json(model) : model_text(model));
  return 0;
}

}  // namespace

std::function<int()> declare_info(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  command.add_option("--format", options->format, "text, or JSON (one object)")
      ->type_name("text|json")
      ->check(one_of({"text", "json"}));
  add_model_options(command, options->model);
  command.footer(
      R"(With --model: what that model is. JSON keys: model, family, parameters, flops_per_image,
weight_bytes, width, depth, heads, mlp_width, patch, stem, registers, input_height, input_width,
classes, multi_label, labels, label_source, files, key_style, stored_dtype, notes, neighbours
{count, temperature, photos} (kept of each class) or null, specification {text, mean, std, source} or
null, specification_missing.
Without: what this program and this machine can do. JSON keys: version, libtorch, cpu,
instruction_sets, libtorch_cpu_capability, cores, threads, attention_backends, kernels,
kernels_available, devices, cuda_unavailable.
Examples:
  vitascope info
  vitascope info --model build/models/everyday)");
  return [options] { return info(*options); };
}

}  // namespace vitascope::app
