#include "app/commands/convert.h"

#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <map>
#include <memory>

#include "app/options.h"
#include "app/output.h"
#include "app/values.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

struct Options {
  ModelOptions model;
  std::string output;
  std::string layout = "transformers";
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
  if (options.output.empty()) throw UsageError("no output is given; --output takes a folder");
  const std::map<std::string, weights::Layout> layouts{
      {"transformers", weights::Layout::transformers},
      {"timm", weights::Layout::timm},
      {"vitascope", weights::Layout::vitascope}};
  const weights::Model model =
      open_model(options.model, RunOptions{.device = "cpu"}, /*pack=*/false);
  const c10::InferenceMode guard;
  weights::save_model(model, options.output, layouts.at(options.layout), options.force);
  output::print(fmt::format("{}: {} parameters in {}'s layout{}\n", printable(options.output),
                            model::parameter_count(model.network.config()), options.layout,
                            options.layout == "vitascope"
                                ? ", which Python doesn't read"
                                : "; in Python: " + python_line(model, options)));
  return 0;
}

}  // namespace

std::function<int()> declare_convert(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  const std::string group = "Result";
  command.add_option("-o,--output", options->output, "folder to write")
      ->type_name("DIR")
      ->group(group);
  command
      .add_option("--layout", options->layout,
                  "whose layout: transformers' from_pretrained or timm's local-dir: reads it, or "
                  "this program alone")
      ->type_name("transformers|timm|vitascope")
      ->check(one_of({"transformers", "timm", "vitascope"}))
      ->group(group);
  command.add_flag("--force", options->force, "overwrite files of an existing folder")
      ->group(group);
  add_model_options(command, options->model);
  command.footer(
      R"(Opens whatever --model can name (safetensors, .pth, .npz, any style of keys) and writes weights,
configuration, labels and image specification, in float32, so that Python gives the same logits.
What a layout can't express is refused by name.
Example:
  vitascope convert --model B_16.npz --layout transformers --output vit/)");
  return [options] { return convert(*options); };
}

}  // namespace vitascope::app
