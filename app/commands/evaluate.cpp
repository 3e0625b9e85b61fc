#include "app/commands/evaluate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/evaluation_files.h"
#include "app/evaluation_result.h"
#include "app/labelled_run.h"
#include "app/merged_results.h"
#include "app/options.h"
#include "app/output.h"
#include "app/part_rows.h"
#include "app/recipe.h"
#include "app/shard_run.h"
#include "app/values.h"
#include "datasets/split.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

struct Options {
  ModelOptions model;
  RunOptions run;
  PhotoOptions photos;
  std::string data, split, label_map;
  double val_fraction = 0;
  std::string compare;
  EvaluationOptions evaluation;
  std::string format = "text";
  std::string output, shard;
  bool force = false;
};

/// The data set, its photos for validation chosen as training with the same seed chooses them.
datasets::LabelledImages open_split(const Options& options) {
  datasets::LabelledImages images = open_data(options.data);
  if (options.val_fraction > 0)
    datasets::split_validation(images, options.val_fraction, options.evaluation.bootstrap.seed);
  if (!options.run.quiet)
    for (const std::string& note : images.notes) output::note(printable(note));
  return images;
}

/// A model and which of its classes the data's are.
struct Candidate {
  weights::Model model;
  LabelMatch match;
};

/// \throws UsageError when the model can't be asked about these photos
Candidate open_candidate(const ModelOptions& options, const RunOptions& run,
                         const datasets::LabelledImages& images, const SelectedPhotos& photos,
                         const LabelMap& map) {
  weights::Model model = open_model(options, run, /*pack=*/photos.samples.size() >= kPackFrom);
  require_head(model);
  require_specification(model);
  LabelMatch match = match_labels(images, photos.samples, model.labels, map);
  return {std::move(model), std::move(match)};
}

/// The second model, as its own files describe it.
std::optional<Candidate> open_other(const Options& options, const datasets::LabelledImages& images,
                                    const SelectedPhotos& photos, const LabelMap& map,
                                    const weights::Model& first) {
  if (options.compare.empty()) return std::nullopt;
  ModelOptions other;
  other.model = options.compare;
  Candidate candidate = open_candidate(other, options.run, images, photos, map);
  if (images.multi_label || first.network.config().multi_label ||
      candidate.model.network.config().multi_label)
    throw UsageError("--compare is for models and data with one label a photo");
  return candidate;
}

/// The data set and the photos of it that are evaluated.
struct Subject {
  std::shared_ptr<const datasets::LabelledImages> images;
  SelectedPhotos photos;
};

PartHeader part_header(const Options& options, const std::string& recipe,
                       const datasets::Shard& shard, const Subject& subject,
                       const Candidate& candidate) {
  PartHeader header;
  header.command = "evaluate";
  header.program = VITASCOPE_VERSION;
  std::vector<std::string> photos;
  photos.reserve(subject.photos.samples.size());
  for (const std::size_t i : subject.photos.samples) {
    const datasets::Sample& sample = subject.images->samples[i];
    photos.push_back(
        fmt::format("{} {} {}", i, sample.path, fmt::join(truth_of(sample, candidate.match), " ")));
  }
  header.list = list_key(photos);
  header.model = model_key(candidate.model, options.model);
  header.recipe = shard_recipe(recipe);
  header.shard = shard;
  header.photos = photos.size();
  header.batch_size = static_cast<std::size_t>(options.run.batch_size);
  header.details = details_json({no_answers(candidate.model, *subject.images),
                                 {options.data, subject.images->source, subject.photos.split},
                                 options.evaluation,
                                 decode_options(options.photos)});
  header.details[kFormatKey] = options.format;
  return header;
}

/// Writes the answers to this shard's share of the photos into its part.
int evaluate_shard(const Options& options, const std::string& recipe, const ShardPlace& place,
                   const Subject& subject, const Candidate& candidate) {
  ShardRun shard(options.output, part_header(options, recipe, place.shard, subject, candidate),
                 options.force);
  std::vector<std::size_t> samples;
  samples.reserve(shard.remaining().size());
  for (const std::size_t i : shard.remaining()) samples.push_back(subject.photos.samples[i]);
  const Answers none = no_answers(candidate.model, *subject.images);
  const PhotoHooks hooks = shard.hooks([&](const PhotoResult& photo) {
    Answers one = none;
    add_answer(photo, samples[photo.photo.index], *subject.images, candidate.match, one);
    return answer_row(one);
  });
  const RunReport report =
      run_photos(candidate.model, {subject.images, samples}, options.run, options.photos, 0, hooks);
  return shard.finish(report, place.launched, options.run.quiet);
}

int evaluate_model(const Options& given, const std::string& recipe) {
  Options options = given;
  const std::optional<ShardPlace> place =
      shard_place(options.shard, options.output, environment, options.run);
  if (place && !options.compare.empty())
    throw UsageError("--compare is for one process: evaluate the second model's shards likewise");
  const auto data = std::make_shared<const datasets::LabelledImages>(open_split(options));
  const datasets::LabelledImages& images = *data;
  const SelectedPhotos photos = select_split(images, options.split);
  const LabelMap map = options.label_map.empty() ? LabelMap() : read_label_map(options.label_map);
  const auto ask = [&](const Candidate& candidate) {
    return run_labelled(candidate.model, candidate.match, data, photos, options.run,
                        options.photos);
  };
  const Candidate first = open_candidate(options.model, options.run, images, photos, map);
  if (place) return evaluate_shard(options, recipe, *place, {data, photos}, first);
  const auto other = open_other(options, images, photos, map, first.model);
  if (!options.output.empty()) prepare_evaluation_folder(options.output, options.force);
  LabelledRun run = ask(first);
  const Answers& answers = run.answers;
  if (answers.paths.empty()) {
    output::error("no photo could be evaluated");
    return std::max(run.report.exit_status(), 1);
  }
  Evaluation evaluation = evaluate(answers, options.evaluation);
  if (other && !run.report.interrupted) {
    const LabelledRun second = ask(*other);
    run.report.failed += second.report.failed;
    run.report.interrupted = second.report.interrupted;
    if (!second.answers.paths.empty())
      evaluation.comparison = compare(answers, second.answers, options.evaluation.bootstrap);
  }
  const EvaluationSubject subject{options.data,           images.source,
                                  photos.split,           run.report.failed,
                                  run.report.interrupted, options.evaluation.bootstrap};
  const EvaluationResult result{subject, answers, evaluation};
  output::print(render(result, output::parse_format(options.format)));
  if (!options.output.empty())
    write_evaluation(options.output, result, images, decode_options(options.photos), options.force,
                     options.run.quiet);
  return run.report.exit_status();
}

constexpr const char* kExamples =
    R"(Classes of the data are found among the labels of the model by name: the same name, or one that
differs in the case of letters only. Where some are not, nothing is run (exit status 2). --label-map
is a table with the columns data and model; several data labels may go to one model label.
Rates are averaged over the classes that the data hold. Several labels a photo (of the model or the
data): average precision, and F1 of the classes above --threshold.
JSON keys: model, data, source, split, photos, failed, interrupted, multi_label; top1, top5,
balanced_accuracy, macro_precision, macro_recall, macro_f1, weighted_precision, weighted_recall,
weighted_f1, ece, mce, nll, brier, and with --fit-temperature temperature, nll_at_temperature,
ece_at_temperature; of several labels map, micro_precision, micro_recall, micro_f1, macro_...,
weighted_...; intervals {level, resamples, seed, FIGURE: [low, high]}; classes [{label, index,
support, predicted, right, precision, recall, f1, average_precision}]; confusion {labels, counts
[true][predicted]}; reliability [{count, accuracy, confidence}]; mistakes [{path, truth, prediction,
probability, truth_probability}]; comparison {model, photos, top1, first_only, second_only,
mcnemar_exact, mcnemar_statistic, mcnemar_corrected, difference}. CSV: figure, class, value, low,
high.
Several processes share many photos, each with --shard I/N or all started by torchrun --no-python,
srun or mpirun: each writes its answers to FOLDER.part-I-of-N beside the folder of --output, goes on
with it after Ctrl-C, SIGTERM or a crash (--force begins anew), and 'vitascope merge-results' makes
the figures of one process from the parts.
--output writes evaluation.json, .csv and .html, predictions.csv, confusion.csv and .png,
reliability.png and mistakes.jpg.

Examples:
  vitascope evaluate --model runs/clothes --data photos/ --output runs/clothes/evaluation
  vitascope evaluate --model runs/clothes --data photos/ --compare runs/before --format json)";

void add_data_options(CLI::App& command, Options& options) {
  const std::string group = "Data";
  command.add_option("--data", options.data, "a folder, or a table of photos and labels")
      ->type_name("DATA")
      ->group(group);
  command
      .add_option("--split", options.split,
                  "which photos [default: validation where there is one, else test, else all]")
      ->type_name("validation|test|train|all")
      ->check(one_of({"validation", "test", "train", "all"}))
      ->group(group);
  command
      .add_option("--val-fraction", options.val_fraction,
                  "part of the photos that is for validation, chosen by --seed; 0: as the data say")
      ->type_name("P")
      ->check(number(0, 1))
      ->group(group);
  command
      .add_option("--label-map", options.label_map,
                  "table with the columns data and model, for names that differ")
      ->type_name("FILE")
      ->group(group);
}

void add_measure_options(CLI::App& command, EvaluationOptions& options) {
  const std::string group = "Measures";
  command
      .add_option("--resamples", options.bootstrap.resamples,
                  "of the bootstrap that gives intervals; 0: no intervals")
      ->type_name("N")
      ->check(whole_number(0, 1'000'000))
      ->group(group);
  command.add_option("--confidence", options.bootstrap.level, "of the intervals")
      ->type_name("P")
      ->check(number(0.01, 0.9999))
      ->group(group);
  command.add_option("--seed", options.bootstrap.seed, "of the bootstrap and of --val-fraction")
      ->type_name("N")
      ->check(whole_number(0, 2147483647))
      ->group(group);
  command.add_option("--bins", options.bins, "of the calibration errors")
      ->type_name("N")
      ->check(whole_number(1, 1000))
      ->group(group);
  command
      .add_flag("--fit-temperature", options.fit_temperature,
                "also the temperature that makes these photos likeliest")
      ->group(group);
  command
      .add_option("--threshold", options.threshold,
                  "several labels a photo: a class this probable is predicted")
      ->type_name("P")
      ->check(number(0, 1))
      ->group(group);
  command.add_option("--mistakes", options.mistakes, "most confident mistakes to show")
      ->type_name("N")
      ->check(whole_number(0, 400))
      ->group(group);
}

}  // namespace

std::function<int()> declare_evaluate(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  add_data_options(command, *options);
  add_decode_options(command, options->photos);
  add_tta_option(command, options->photos);
  add_measure_options(command, options->evaluation);
  const std::string group = "Results";
  command
      .add_option("--compare", options->compare,
                  "a second model, with McNemar's test on the same photos")
      ->type_name("MODEL")
      ->group(group);
  command.add_option("--format", options->format, "text, JSON (one object) or CSV")
      ->type_name("text|json|csv")
      ->check(one_of({"text", "json", "csv"}))
      ->group(group);
  command.add_option("-o,--output", options->output, "a folder for tables, pictures and a page")
      ->type_name("FOLDER")
      ->group(group);
  add_shard_option(command, options->shard);
  command.add_flag("--force", options->force, "overwrite files of --output")->group(group);
  add_model_options(command, options->model);
  add_run_options(command, options->run);
  command.footer(kExamples);
  return [options, &command] { return evaluate_model(*options, config_text(command, {})); };
}

}  // namespace vitascope::app
