#include "app/model_card.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <regex>

#include "app/model_use.h"
#include "app/output.h"
#include "app/run_folder.h"
#include "datasets/split.h"
#include "vit/error.h"
#include "vit/text.h"
#include "vit/weights/saved_layout.h"

namespace vitascope::app {
namespace {

namespace fs = std::filesystem;
using datasets::Split;

constexpr std::size_t kClassesShown = 200;   // longer tables help nobody
constexpr std::size_t kConfusionsShown = 5;  // as many as there are examples of
constexpr std::int64_t kFewPhotos = 30;      // a rate of fewer swings by a tenth and more
constexpr const char* kFigures[] = {
    "top1", "top5", "balanced_accuracy", "macro_f1", "map", "micro_f1", "ece", "nll", "brier"};
/// Options that say nothing of the model, or where things lay.
constexpr const char* kPrivate[] = {"data",   "output", "model",   "resume",
                                    "force",  "quiet",  "verbose", "threads",
                                    "device", "seed",   "labels",  "preprocessor"};

/// Text is quoted as JSON is, which YAML reads.
std::string yaml_text(const std::string& text) { return output::json_string(printable(text)); }

std::string last_name(const std::string& path) {
  const fs::path whole = fs::absolute(path).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

const Figure* find_figure(const Evaluation& evaluation, const std::string& key) {
  const auto found = std::ranges::find(evaluation.figures, key, &Figure::key);
  return found == evaluation.figures.end() ? nullptr : &*found;
}

/// The figure that stands for all: accuracy, or F1 where photos have several labels.
struct Headline {
  const char* metric;  ///< as the Hub calls it
  const char* key;
};
Headline headline(const ModelCard& card) {
  return card.answers.multi_label ? Headline{"f1", "micro_f1"} : Headline{"accuracy", "top1"};
}

std::string front_matter(const ModelCard& card) {
  const char* library = card.facts.layout == weights::Layout::transformers ? "transformers"
                        : card.facts.layout == weights::Layout::timm       ? "timm"
                                                                           : "vitascope";
  const auto [metric, key] = headline(card);
  std::string text =
      fmt::format("---\nlibrary_name: {}\npipeline_tag: image-classification\n", library);
  if (card.base.on_hub) text += fmt::format("base_model: {}\n", yaml_text(card.base.name));
  if (!card.base.name.empty()) text += "license: other\nlicense_name: as-the-base-model\n";
  text += "tags:\n- image-classification\n- vision-transformer\n- vitascope\n";
  text += fmt::format("metrics:\n- {}\n", metric);
  if (const Figure* figure = find_figure(card.evaluation, key)) {
    text += fmt::format(
        "model-index:\n- name: {}\n  results:\n  - task:\n      type: image-classification\n"
        "    dataset:\n      name: {}\n      type: imagefolder\n      split: validation\n"
        "    metrics:\n    - type: {}\n      value: {:.4f}\n",
        yaml_text(last_name(card.folder)), yaml_text(last_name(card.data)), metric, figure->value);
  }
  return text + "---\n";
}

std::string method_text(const std::string& method) {
  if (method == "head") return "the head alone was trained";
  if (method == "full") return "all of its weights were trained";
  if (method == "lora") return "low-rank additions (LoRA) and the head were trained, then merged";
  if (method == "bias") return "its biases and the head were trained";
  if (method == "knn") {
    return "nothing was trained; its head compares what the network sees with the labelled photos";
  }
  return "trained with `--method " + method + "`";
}

std::string introduction(const ModelCard& card) {
  const model::Config& config = card.facts.config;
  std::string text = fmt::format("\n# {}\n\n", markdown_text(last_name(card.folder)));
  text += fmt::format(
      "A vision transformer that {} {} classes. It was made from {} by Vitascope {}: {}.\n",
      card.answers.multi_label ? "tells which of a photo shows, of" : "puts a photo into one of",
      card.answers.classes(),
      card.base.name.empty() ? "random weights" : markdown_text(card.base.name), VITASCOPE_VERSION,
      method_text(card.method));
  const auto row = [&](const char* name, const std::string& value) {
    text += fmt::format("| {} | {} |\n", name, value);
  };
  text += "\n| | |\n|---|---|\n";
  if (!card.base.name.empty()) {
    row("base model", fmt::format("{}{}", markdown_text(card.base.name),
                                  card.base.on_hub ? "" : " (a local file or folder)"));
  }
  row("network",
      fmt::format("{}: {} blocks, width {}, {} heads, patch {}, {:.4g} million parameters",
                  markdown_text(config.family), config.depth, config.width, config.heads,
                  config.patch, static_cast<double>(model::parameter_count(config)) / 1e6));
  if (card.facts.input) {
    row("input", fmt::format("{} x {} pixels", card.facts.input->height, card.facts.input->width));
  }
  row("photos are prepared", markdown_text(card.facts.preparation));
  std::vector<std::string> names;
  for (const std::string& label : card.answers.labels) {
    if (names.size() == kClassesShown) break;
    names.push_back(markdown_text(label));
  }
  row("classes", fmt::format("{}{}", fmt::join(names, ", "),
                             names.size() < card.answers.labels.size() ? ", ..." : ""));
  return text;
}

std::string figures_table(const ModelCard& card) {
  std::string text = "\n| figure | value | 95% interval |\n|---|---|---|\n";
  for (const char* key : kFigures) {
    const Figure* figure = find_figure(card.evaluation, key);
    if (figure == nullptr || (figure->key == "top5" && card.answers.classes() <= 5)) continue;
    text += fmt::format("| {} | {:.4f} | {} |\n", figure->title, figure->value,
                        figure->interval ? fmt::format("{:.4f} to {:.4f}", figure->interval->low,
                                                       figure->interval->high)
                                         : "");
  }
  return text;
}

std::string confusions(const ModelCard& card) {
  if (!card.evaluation.confusion) return "";
  const auto pairs = metrics::most_confused(*card.evaluation.confusion, kConfusionsShown);
  if (pairs.empty()) return "\nNo photo of validation was taken for another class.\n";
  const std::vector<metrics::ClassCounts> counts = card.evaluation.confusion->per_class();
  std::string text = "\nMost often confused:\n\n";
  for (const metrics::Confusion& pair : pairs) {
    text += fmt::format("- {} taken for {}: {} of {} photos\n",
                        markdown_text(card.answers.label(pair.label)),
                        markdown_text(card.answers.label(pair.predicted)), pair.count,
                        counts[static_cast<std::size_t>(pair.label)].support);
  }
  if (card.confusions) text += "\n![Photos of each of these confusions](confusions.png)\n";
  return text;
}

std::string classes_table(const ModelCard& card) {
  std::string text = "\n| class | photos | precision | recall | F1 |\n|---|---|---|---|---|\n";
  std::size_t shown = 0;
  for (const ClassFigures& one : card.evaluation.classes) {
    if (shown++ == kClassesShown) break;
    const metrics::Rates rates = metrics::rates_of(one.counts);
    text += fmt::format("| {} | {} | {:.3f} | {:.3f} | {:.3f} |\n",
                        markdown_text(card.answers.label(one.index)), one.counts.support,
                        rates.precision, rates.recall, rates.f1);
  }
  return text;
}

std::string results(const ModelCard& card) {
  const LogRow* best = best_row(card.rows);
  return fmt::format("\n## Results\n\nOf {} on {} photos of validation.\n",
                     best == nullptr ? "the kept epoch" : fmt::format("epoch {}", best->epoch),
                     card.answers.paths.size()) +
         figures_table(card) + confusions(card) + classes_table(card);
}

std::string data_section(const ModelCard& card) {
  const std::vector<datasets::SplitCounts> counts = datasets::count_classes(card.images);
  std::string text = fmt::format(
      "\n## Data\n\n{}, {}; fingerprint of names, labels and splits: {}.\n\n"
      "| class | training | validation | test |\n|---|---|---|---|\n",
      markdown_text(last_name(card.data)), markdown_text(card.images.source), card.fingerprint);
  const auto row = [&](const std::string& name, const datasets::SplitCounts& of) {
    text += fmt::format("| {} | {} | {} | {} |\n", name, of[static_cast<std::size_t>(Split::train)],
                        of[static_cast<std::size_t>(Split::validation)],
                        of[static_cast<std::size_t>(Split::test)]);
  };
  for (std::size_t c = 0; c < std::min(counts.size(), kClassesShown); ++c) {
    row(markdown_text(card.images.classes[c]), counts[c]);
  }
  row("**all photos**", datasets::count_splits(card.images));
  return text;
}

std::string epochs_table(const ModelCard& card) {
  std::string text =
      "\n| epoch | training loss | training accuracy | validation | learning rate | |\n"
      "|---|---|---|---|---|---|\n";
  const LogRow* best = best_row(card.rows);
  for (const LogRow& row : card.rows) {
    std::string figures;
    for (const auto& [name, value] : row.validation) {
      figures += fmt::format("{}{} {:.4f}", figures.empty() ? "" : ", ", name, value);
    }
    text += fmt::format("| {} | {:.4f} | {:.3f} | {} | {:.2e} | {} |\n", row.epoch, row.loss,
                        row.accuracy, figures, row.rate, &row == best ? "kept" : "");
  }
  return text;
}

std::string training(const ModelCard& card) {
  std::string text =
      "\n## Training\n\n`recipe.yaml` holds every option; these were not at their defaults:\n\n"
      "| option | value |\n|---|---|\n";
  for (const auto& [name, value] : card.options) {
    if (std::ranges::find(kPrivate, name) != std::end(kPrivate)) continue;
    text += fmt::format("| {} | {} |\n", name, markdown_text(value));
  }
  text += fmt::format("| seed | {} |\n", card.seed);
  text += epochs_table(card);
  if (card.facts.config.neighbours) {
    const model::NeighbourVote& vote = *card.facts.config.neighbours;
    return text + fmt::format(
                      "\nThe {} photos for training that are most similar vote with exp(cosine / "
                      "{:g}); what the network sees of all {} is kept in the model. The training "
                      "loss and accuracy are of each photo by the others.\n",
                      vote.count, vote.temperature, vote.total());
  }
  return text +
         "\nThe training loss is what was optimised, of augmented photos and with label smoothing "
         "where that was asked for; that of validation is the plain one.\n" +
         (card.method == "head"
              ? ""
              : "\n![Loss, accuracy and learning rate over epochs](curves.png)\n");
}

std::string limits(const ModelCard& card) {
  std::string text = fmt::format(
      "\n## Limits\n\n"
      "- Measured on {} photos of validation{}: photos that nobody has seen will fare somewhat "
      "worse.\n",
      card.answers.paths.size(),
      card.facts.config.neighbours
          ? std::string()
          : fmt::format(", which also chose the best of {} epoch{}", card.rows.size(),
                        card.rows.size() == 1 ? "" : "s"));
  if (!card.answers.multi_label) {
    text += fmt::format(
        "- The intervals say how far a figure swings with other photos of the same kind "
        "(bootstrap, {} resamples); they know nothing of other cameras, places or times.\n"
        "- It names one of its {} classes whatever a photo shows.\n",
        card.resamples, card.answers.classes());
  }
  std::vector<std::string> few;
  for (const ClassFigures& one : card.evaluation.classes) {
    if (one.counts.support < kFewPhotos && few.size() < kClassesShown) {
      few.push_back(markdown_text(card.answers.label(one.index)));
    }
  }
  if (!few.empty()) {
    text += fmt::format(
        "- Validated on fewer than {} photos each, so that their rates are rough: {}.\n",
        kFewPhotos, fmt::join(few, ", "));
  }
  return text +
         "- A photo that is nearly the same in training and in validation makes figures too good; "
         "`vitascope check-data` finds those that are the same byte by byte.\n"
         "- Nothing was measured of people, of fairness between groups, or of photos made to "
         "deceive it.\n\n"
         "## Licence\n\n" +
         (card.base.name.empty()
              ? "As the photos allow.\n"
              : "As the base model's, as far as known, and as the photos allow.\n");
}

}  // namespace

ModelFacts facts_of(const weights::Model& model) {
  ModelFacts facts{.config = model.network.config()};
  if (model.specification) {
    facts.input = image::output_size(*model.specification);
    facts.preparation = image::describe(*model.specification);
  }
  facts.fits_timm = layout_fits(model, weights::Layout::timm);
  facts.layout = layout_for(model);
  return facts;
}

BaseModel base_model(const std::string& model) {
  if (model.empty()) return {};
  static const std::regex repository(R"([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)");
  std::error_code ignored;
  const std::string name = model.substr(0, model.find('@'));
  if (!fs::exists(model, ignored) && std::regex_match(name, repository)) return {name, true};
  return {last_name(model), false};
}

std::string markdown_text(const std::string& text) {
  std::string safe;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*_{}[]<>|#~&").find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

std::string model_card(const ModelCard& card) {
  return front_matter(card) + introduction(card) +
         use_section({.folder = last_name(card.folder),
                      .layout = card.facts.layout,
                      .fits_timm = card.facts.fits_timm,
                      .multi_label = card.answers.multi_label}) +
         results(card) + data_section(card) + training(card) + limits(card);
}

}  // namespace vitascope::app
