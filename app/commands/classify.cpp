#include "app/commands/classify.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "app/likeliest.h"
#include "app/merged_results.h"
#include "app/options.h"
#include "app/output.h"
#include "app/part_rows.h"
#include "app/photo_run.h"
#include "app/recipe.h"
#include "app/saved_rows.h"
#include "app/shard_run.h"
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
  std::string output, shard;
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

/// The photos that were found for the inputs.
struct Found {
  std::vector<std::string> paths;
  int failed = 0;
};

PartHeader part_header(const ClassifyOptions& options, const std::string& recipe,
                       const datasets::Shard& shard, const Found& photos,
                       const weights::Model& model) {
  PartHeader header;
  header.command = "classify";
  header.program = VITASCOPE_VERSION;
  header.list = list_key(photos.paths);
  header.model = model_key(model, options.model);
  header.recipe = shard_recipe(recipe);
  header.shard = shard;
  header.photos = photos.paths.size();
  header.batch_size = static_cast<std::size_t>(options.run.batch_size);
  header.failed_inputs = photos.failed;
  header.details = {{"labels", texts_json(model.labels)}, {kFormatKey, options.format}};
  return header;
}

/// Writes what the model says of the header's share of the photos into a part. Where that is all of
/// them the part becomes the file itself.
int classify_into_file(const ClassifyOptions& options, const PartHeader& header,
                       const std::optional<ShardPlace>& place, const Found& photos,
                       const weights::Model& model) {
  const Selection select = selection(options, model.network.config());
  ShardRun shard(options.output, header, options.force);
  std::vector<std::string> paths;
  paths.reserve(shard.remaining().size());
  for (const std::size_t i : shard.remaining()) paths.push_back(photos.paths[i]);
  const PhotoHooks hooks = shard.hooks([&](const PhotoResult& result) {
    return classification_row(classification(result, model, select));
  });
  const RunReport report = run_photos(model, paths, options.run, options.photos, 0, hooks);
  // A part that becomes the file at once is not worth a word.
  const bool quiet = options.run.quiet || (!place && !report.interrupted);
  const int status = shard.finish(report, place && place->launched, quiet);
  if (place || status == 130) return status;
  const int merged = merge(Parts({shard.path()}), {.output = options.output,
                                                   .format = options.format,
                                                   .force = options.force,
                                                   .name_failures = false});
  std::filesystem::remove(shard.path());
  if (!options.run.quiet) output::note("wrote " + options.output);
  return merged;
}

void check_files(const ClassifyOptions& options, bool shared) {
  if (!options.save.empty()) {
    if (!options.output.empty())
      throw UsageError(
          "--save keeps all photos in memory and can't go on as --output does: give "
          "one of the two");
    check_writable(options.save, options.force);
  }
  if (!options.output.empty() && !shared) check_writable(options.output, options.force);
}

int classify(const ClassifyOptions& given, const std::string& recipe) {
  ClassifyOptions options = given;
  const std::optional<ShardPlace> place =
      shard_place(options.shard, options.output, environment, options.run);
  const output::Format format = output::parse_format(options.format);
  check_files(options, place.has_value());
  int failed = 0;
  const std::vector<std::string> paths = find_photos(options.photos, failed);
  const weights::Model model =
      open_model(options.model, options.run, /*pack=*/paths.size() >= kPackFrom);
  require_head(model);
  require_specification(model);
  note_labels(model, options.run);
  if (!options.output.empty()) {
    const Found photos{paths, failed};
    const datasets::Shard shard = place ? place->shard : datasets::Shard{};
    return classify_into_file(options, part_header(options, recipe, shard, photos, model), place,
                              photos, model);
  }
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
    report = run_photos(model, paths, options.run, options.photos, failed, {use});
  } catch (...) {
    write_saved();  // what was done before the failure is kept
    throw;
  }
  write_saved();
  return report.exit_status();
}

constexpr const char* kExamples =
    R"(--output FILE keeps what is done in FILE.part-1-of-1 until all is done: after Ctrl-C, SIGTERM or a
crash the same command goes on there. Several processes share a long list, each with --shard I/N or
all started by torchrun --no-python, srun or mpirun: each writes FILE.part-I-of-N, goes on with it
likewise (--force begins anew), and 'vitascope merge-results' joins the parts. Batches of
--batch-size photos are dealt in turn. Started by a launcher a shard ends with 0 where photos failed
as well, since else the launcher would end the others; merge-results tells of them and ends with 1.
--save holds pixel_values, features and logits in memory until the end, then writes them with the
paths as a JSON list under "paths" in the metadata.

Examples:
  vitascope classify photo.jpg --model build/models/everyday
  vitascope classify photos/ --recursive --model google/vit-base-patch16-224 --top 1 --format csv
  find . -name '*.jpg' | vitascope classify - --model build/models/everyday --format json
  vitascope classify photos/ --model runs/clothes --format csv --output results.csv --shard 2/4)";

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
      .add_option("-o,--output", options->output,
                  "a file for the results, instead of stdout; an interrupted run goes on")
      ->type_name("FILE")
      ->group(group);
  add_shard_option(command, options->shard);
  command
      .add_option("--save", options->save, "also write what the model saw and gave (.safetensors)")
      ->type_name("FILE")
      ->group(group);
  command.add_flag("--force", options->force, "overwrite the files of --output and --save")
      ->group(group);
  add_model_options(command, options->model);
  add_run_options(command, options->run);
  command.footer(kExamples);
  return [options, &command] { return classify(*options, config_text(command, {})); };
}

}  // namespace vitascope::app
