#include "app/commands/convert.h"

#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <memory>

#include "app/options.h"
#include "app/output.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

struct Options {
  ModelOptions model;
  std::string output;
  std::string layout;
  bool force = false;
};

// The line of Python that opens what was written.
std::string python_line(const weights::Model& model, const Options& options) {
  const bool head = model.network.config().classes > 0;
  // printable() leaves quotes alone, and a path may hold them.
  std::string path;
  for (const char c : printable(options.output)) {
    if (c == '"' || c == '\\') path += '\\';
    path += c;
  }
  if (options.layout == "timm") {
    return fmt::format("timm.create_model(\"local-dir:{}\", pretrained=True)", path);
  }
  return fmt::format("transformers.{}.from_pretrained(\"{}\")",
                     head ? "AutoModelForImageClassification" : "AutoModel", path);
}

int convert(const Options& options) {
  const c10::InferenceMode guard;
  const weights::Model model = open_model(options.model, RunOptions{.device = "cpu"});
  const bool timm = options.layout == "timm";
  weights::save_model(model, options.output,
                      timm ? weights::Layout::timm : weights::Layout::transformers, options.force);
  output::print(fmt::format(
      "{}: {} parameters in {}'s layout; in Python: {}\n", printable(options.output),
      model::parameter_count(model.network.config()), options.layout, python_line(model, options)));
  return 0;
}

}  // namespace

std::function<int()> declare_convert(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  add_model_options(command, options->model);
  command.add_option("--output", options->output, "Directory to write")->required();
  command
      .add_option("--layout", options->layout,
                  "transformers (from_pretrained) or timm (local-dir:)")
      ->required()
      ->check(CLI::IsMember({"transformers", "timm"}));
  command.add_flag("--force", options->force, "Replace the files of an existing directory");
  command.footer(
      "Opens whatever --model can name (safetensors, .pth, .npz, any key style) and writes "
      "weights,\n"
      "configuration, labels and image specification in float32, so that Python gives the same\n"
      "logits. A model that the layout cannot express is refused by name.");
  return [options] { return convert(*options); };
}

}  // namespace vitascope::app
