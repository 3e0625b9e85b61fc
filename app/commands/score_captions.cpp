#include "app/commands/score_captions.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "app/caption_report.h"
#include "app/output.h"
#include "app/values.h"
#include "datasets/caption_json.h"
#include "datasets/captions.h"
#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

constexpr std::size_t kLargestResults = std::size_t{1} << 30;

struct Options {
  std::string results, references, frequencies;
  bool subset = false;
  std::string format = "text";
  std::string output;
  bool force = false;
  bool quiet = false;
};

datasets::CaptionedImages read_references(const std::string& path, bool quiet) {
  datasets::CaptionedImages references = datasets::read_captions(path);
  if (!quiet)
    for (const std::string& note : references.notes)
      output::note(fmt::format("{}: {}", path, note));
  return references;
}

/// Captions as words, beside the references of their photos.
struct Paired {
  std::vector<metrics::Sentence> candidates;
  std::vector<std::vector<metrics::Sentence>> references;
};

std::vector<metrics::Sentence> sentences(const std::vector<std::string>& captions,
                                         metrics::WordNumbers& numbers) {
  std::vector<metrics::Sentence> result;
  result.reserve(captions.size());
  for (const std::string& caption : captions) result.push_back(numbers.sentence(caption));
  return result;
}

/// \throws InputError when one side has photos that the other lacks, unless a subset is wanted
void check_sides(const Options& options, const std::vector<std::string>& without_references,
                 const std::vector<std::string>& without_caption, std::size_t common) {
  const std::string advice = common > 0 ? "; --subset scores what both have"
                                        : ": expected results and references of the "
                                          "same photos";
  if (!without_references.empty() && (!options.subset || common == 0))
    throw InputError(options.results,
                     fmt::format("{} captions are of photos that {} does not have: {}{}",
                                 without_references.size(), printable(options.references),
                                 datasets::first_few(without_references), advice));
  if (!without_caption.empty() && (!options.subset || common == 0))
    throw InputError(
        options.results,
        fmt::format("has no caption for {} photos of {}: {}{}", without_caption.size(),
                    printable(options.references), datasets::first_few(without_caption), advice));
}

/// Where each photo stands, by its id and, where only one has it, by the name of its file.
std::unordered_map<std::string, std::size_t> places_of(const datasets::CaptionedImages& images) {
  std::unordered_map<std::string, std::size_t> places, names;
  std::unordered_map<std::string, int> counts;
  for (std::size_t i = 0; i < images.photos.size(); ++i) {
    const std::string name = std::filesystem::path(images.photos[i].path).filename().string();
    ++counts[name];
    names.emplace(name, i);
    places.emplace(images.photos[i].id, i);
  }
  for (const auto& [name, place] : names)
    if (counts[name] == 1) places.emplace(name, place);
  return places;
}

/// Brings captions and references together, in the order of the captions.
Paired pair_up(const Options& options, std::vector<datasets::CaptionResult> results,
               const datasets::CaptionedImages& references, metrics::WordNumbers& numbers,
               CaptionSubject& subject) {
  const std::unordered_map<std::string, std::size_t> places = places_of(references);
  std::vector<std::string> without_references, without_caption;
  Paired paired;
  paired.candidates.reserve(results.size());
  paired.references.reserve(results.size());
  std::vector<bool> used(references.photos.size());
  for (datasets::CaptionResult& result : results) {
    const auto place = places.find(result.id);
    if (place == places.end()) {
      without_references.push_back(std::move(result.id));
      continue;
    }
    used[place->second] = true;
    const auto& captions = references.photos[place->second].captions;
    paired.candidates.push_back(numbers.sentence(result.caption));
    paired.references.push_back(sentences(captions, numbers));
    subject.reference_captions += captions.size();
    subject.ids.push_back(std::move(result.id));
  }
  for (std::size_t i = 0; i < used.size(); ++i)
    if (!used[i]) without_caption.push_back(references.photos[i].id);
  check_sides(options, without_references, without_caption, paired.candidates.size());
  subject.without_references = without_references.size();
  subject.without_caption = without_caption.size();
  if (options.subset && !options.quiet)
    output::note(
        fmt::format("left out: {} captions without references, {} photos without a caption",
                    without_references.size(), without_caption.size()));
  return paired;
}

/// Document frequencies of --frequencies.
metrics::DocumentFrequencies other_frequencies(const Options& options,
                                               metrics::WordNumbers& numbers) {
  const datasets::CaptionedImages images = read_references(options.frequencies, options.quiet);
  std::vector<std::vector<metrics::Sentence>> references;
  references.reserve(images.photos.size());
  for (const datasets::CaptionedImage& photo : images.photos)
    references.push_back(sentences(photo.captions, numbers));
  return metrics::DocumentFrequencies(references);
}

void write_result(const Options& options, const std::string& text) {
  if (options.output.empty()) return output::print(text);
  write_file(options.output, options.force, text);
  if (!options.quiet) output::note(fmt::format("written: {}", options.output));
}

int score(const Options& options) {
  if (options.results.empty())
    throw UsageError("no captions to score are given: expected a file of COCO's results");
  if (options.references.empty())
    throw UsageError("--references is missing: the file of captions to compare with");
  if (!options.output.empty()) check_writable(options.output, options.force);
  CaptionSubject subject;
  subject.results = options.results;
  subject.references = options.references;
  subject.frequencies = options.frequencies;
  metrics::WordNumbers numbers;
  Paired paired;
  {
    std::vector<datasets::CaptionResult> results = datasets::parse_caption_results(
        read_file(options.results, kLargestResults), options.results);
    if (results.empty()) throw InputError(options.results, "holds no captions");
    const datasets::CaptionedImages references = read_references(options.references, options.quiet);
    subject.source = references.source;
    paired = pair_up(options, std::move(results), references, numbers, subject);
  }
  std::optional<metrics::DocumentFrequencies> other;
  if (!options.frequencies.empty()) other = other_frequencies(options, numbers);
  subject.frequency_photos =
      other ? other->images() : static_cast<std::int64_t>(paired.references.size());
  const metrics::CaptionReport report =
      metrics::score_captions(paired.candidates, paired.references, other ? &*other : nullptr);
  // Text says so itself.
  if (!report.corpus.cider_d && options.format != "text" && !options.quiet)
    output::warning(
        fmt::format("no CIDEr-D: document frequencies of {} photos say nothing, it "
                    "takes {}; --frequencies FILE takes those of a larger set",
                    subject.frequency_photos, metrics::kLeastCiderImages));
  switch (output::parse_format(options.format)) {
    case output::Format::text:
      write_result(options, caption_report_text(subject, report));
      break;
    case output::Format::json:
      write_result(options, caption_report_json(subject, report));
      break;
    case output::Format::csv:
      write_result(options, caption_report_csv(subject, report));
      break;
  }
  return 0;
}

constexpr const char* kExamples =
    R"(RESULTS is COCO's file of results, [{"image_id": 42, "caption": "a dog on a beach"}, ...], or what
'vitascope caption --format json' printed. References are COCO's captions, a dataset that Karpathy
split, a token file of Flickr8k or Flickr30k (image.jpg#0, a tab, the caption) or a table with the
columns image and caption; image_id is a photo's number or the name of its file. BLEU, ROUGE-L and CIDEr-D are coco-caption's; words are cut by
vt-simple-1, which is printed with them, and not by its PTB tokeniser ("cat's" stays one word), so that
figures differ a little from those.
CIDEr-D weighs words by how few photos have them, and is left out below 10 photos. 'exact' is the share
of captions that are one of their references word for word.
JSON keys: results, references, source, photos, reference_captions, without_references,
without_caption, tokenisation, tokenisation_rule, frequencies {file, photos}, bleu [1 to 4],
bleu_unsmoothed [1 to 4], rouge_l, cider_d (null: too few photos), exact, matches, totals, candidate_length,
reference_length, images [{id, bleu, ...}]. CSV: a line of all, then one a photo.

Examples:
  vitascope score-captions results.json --references captions_val2014.json
  vitascope score-captions results.json --references dataset_flickr8k.json --subset --format json)";

}  // namespace

std::function<int()> declare_score_captions(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  const std::string captions = "Captions";
  command.add_option("results", options->results, "captions to score, as COCO's results")
      ->type_name("RESULTS")
      ->group(captions);
  command.add_option("--references", options->references, "captions that people wrote")
      ->type_name("FILE")
      ->group(captions);
  command
      .add_option("--frequencies", options->frequencies,
                  "captions whose document frequencies CIDEr-D takes [default: the references]")
      ->type_name("FILE")
      ->group(captions);
  command
      .add_flag("--subset", options->subset,
                "score the photos that both files have; else a difference is an error")
      ->group(captions);
  const std::string results = "Results";
  command.add_option("--format", options->format, "text, JSON (one object) or CSV")
      ->type_name("text|json|csv")
      ->check(one_of({"text", "json", "csv"}))
      ->group(results);
  command.add_option("-o,--output", options->output, "a file for the result, instead of stdout")
      ->type_name("FILE")
      ->group(results);
  command.add_flag("--force", options->force, "overwrite the file of --output")->group(results);
  command.add_flag("-q,--quiet", options->quiet, "only results and errors")->group(results);
  command.footer(kExamples);
  return [options] { return score(*options); };
}

}  // namespace vitascope::app
