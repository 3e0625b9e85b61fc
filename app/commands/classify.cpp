#include "app/commands/classify.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "app/likeliest.h"
#include "app/options.h"
#include "app/output.h"
#include "app/photo_run.h"
#include "app/saved_rows.h"
#include "app/values.h"
#include "vit/error.h"
#include "vit/file.h"

namespace vitascope::app {
namespace {

constexpr int kTop = 5;
constexpr double kMultiLabelThreshold = 0.5;

struct ClassifyOptions {
  ModelOptions model;
  RunOptions run;
  PhotoOptions photos;
  std::optional<int> top;
  std::optional<double> threshold;
  std::string format = "text";
  std::string save;
  bool force = false;
};

/// How many classes of a photo are printed.
struct Selection {
  std::size_t top;
  double threshold;
};

Selection selection(const ClassifyOptions& options, const model::Config& config) {
  // Many labels may hold for one photo of a multi-label model, so the threshold alone selects.
  const int top = options.top.value_or(config.multi_label ? config.classes : kTop);
  const double threshold =
      options.threshold.value_or(config.multi_label ? kMultiLabelThreshold : 0);
  return {static_cast<std::size_t>(std::min(top, config.classes)), threshold};
}

/// \throws InputError when the model's answer is no number
output::Classification classification(const PhotoResult& result, const weights::Model& model,
                                      const Selection& selection) {
  const datasets::Item& photo = result.photo;
  const at::Tensor probabilities =
      model.network.probabilities(result.output.logits).to(at::kFloat).contiguous();
  if (!at::isfinite(probabilities).all().item<bool>()) {
    throw InputError(photo.path, "the model gives no finite numbers for this photo");
  }
  return {photo.path,
          photo.size,
          likeliest(probabilities, model.labels, selection.top, selection.threshold),
          {photo.decode_seconds * 1e3, photo.prepare_seconds * 1e3, result.model_milliseconds}};
}

/// What --save gathers.
class Saved {
 public:
  void add(const PhotoResult& result) {
    const std::string& path = result.photo.path;
    const at::Tensor& pixels = result.photo.prepared->pixels;
    pixels_.add(pixels, path);  // first: it alone can refuse
    features_.add(result.output.features.squeeze(0), path);
    logits_.add(result.output.logits.squeeze(0), path);
    paths_.push_back(path);
  }

  void write(const std::string& path, const std::string& model, bool force) const {
    if (paths_.empty()) return;
    weights::write_safetensors(path, {pixels_.tensor(), features_.tensor(), logits_.tensor()},
                               saved_metadata(paths_, model), force);
  }

 private:
  SavedRows pixels_{"pixel_values"}, features_{"features"}, logits_{"logits"};
  std::vector<std::string> paths_;
};

/// Says where names come from that are not the model's own.
void note_labels(const weights::Model& model, const RunOptions& run) {
  const std::string& source = model.label_source;
  const bool own = !source.starts_with("built-in") && !source.starts_with("plain");
  if (!own && !run.quiet && !run.verbose) output::note("labels: " + source);
}

int classify(const ClassifyOptions& options) {
  const output::Format format = output::parse_format(options.format);
  if (!options.save.empty()) check_writable(options.save, options.force);
  int failed = 0;
  const std::vector<std::string> paths = find_photos(options.photos, failed);
  const weights::Model model =
      open_model(options.model, options.run, /*pack=*/paths.size() >= kPackFrom);
  require_head(model);
  require_specification(model);
  note_labels(model, options.run);
  const Selection select = selection(options, model.network.config());
  const bool bars = output::on_terminal();
  Saved saved;
  const auto write_saved = [&] {
    if (!options.save.empty()) saved.write(options.save, model.name, options.force);
  };
  const auto use = [&](const PhotoResult& result) {
    const output::Classification classified = classification(result, model, select);
    if (!options.save.empty()) saved.add(result);
    output::print(output::render(classified, format, bars));
  };
  output::print(output::header(format));
  RunReport report;
  try {
    report = run_photos(model, paths, options.run, options.photos, failed, use);
  } catch (...) {
    write_saved();  // what was done before the failure is kept
    throw;
  }
  write_saved();
  return report.exit_status();
}

constexpr const char* kExamples =
    R"(--save holds pixel_values, features and logits in memory until the end, then writes them with the
paths as a JSON list under "paths" in the metadata.

Examples:
  vitascope classify photo.jpg --model build/models/everyday
  vitascope classify photos/ --recursive --model google/vit-base-patch16-224 --top 1 --format csv
  find . -name '*.jpg' | vitascope classify - --model build/models/everyday --format json)";

}  // namespace

std::function<int()> declare_classify(CLI::App& command) {
  const auto options = std::make_shared<ClassifyOptions>();
  const std::string group = "Results";
  add_photo_options(command, options->photos);
  add_tta_option(command, options->photos);
  command
      .add_option("-k,--top", options->top,
                  "classes to print for a photo [default: 5; multi-label: all]")
      ->type_name("K")
      ->check(whole_number(1, 1'000'000))
      ->group(group);
  command
      .add_option("--threshold", options->threshold,
                  "only classes at least this probable [default: 0; multi-label: 0.5]")
      ->type_name("P")
      ->check(number(0, 1))
      ->group(group);
  command.add_option("--format", options->format, "text, JSON (one object a line) or CSV")
      ->type_name("text|json|csv")
      ->check(one_of({"text", "json", "csv"}))
      ->group(group);
  command
      .add_option("--save", options->save, "also write what the model saw and gave (.safetensors)")
      ->type_name("FILE")
      ->group(group);
  command.add_flag("--force", options->force, "overwrite the file of --save")->group(group);
  add_model_options(command, options->model);
  add_run_options(command, options->run);
  command.footer(kExamples);
  return [options] { return classify(*options); };
}

}  // namespace vitascope::app
