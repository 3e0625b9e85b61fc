#include "app/commands/caption.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/caption_audit.h"
#include "app/caption_audit_result.h"
#include "app/caption_page.h"
#include "app/caption_result.h"
#include "app/caption_strip.h"
#include "app/drawing/write_picture.h"
#include "app/encoded_run.h"
#include "app/options.h"
#include "app/output.h"
#include "app/picture_files.h"
#include "app/values.h"
#include "vit/caption/captioner.h"
#include "vit/caption/captioning.h"
#include "vit/error.h"
#include "vit/image/decode.h"

namespace vitascope::app {
namespace {

struct CaptionOptions {
  std::string model, encoder;
  PhotoOptions photos;
  RunOptions run;
  int beam = 3, best = 1, longest = 20, shortest = 1, no_repeat = 4;
  double length_exponent = 0.7;
  std::string finish = "keep";
  bool sample = false;
  double temperature = 1, top_p = 1;
  int top_k = 0;
  std::uint64_t seed = 0;
  std::string format = "text", overlay, html;
  bool force = false;
  CaptionAuditOptions audit;
};

caption::SentenceRules rules(const CaptionOptions& options) {
  return {
      .longest = options.longest + 1, .shortest = options.shortest, .no_repeat = options.no_repeat};
}

caption::BeamOptions beam_options(const CaptionOptions& options) {
  return {
      .beam = options.beam,
      .results = options.best,
      .alpha = options.length_exponent,
      .finish = options.finish == "keep" ? caption::FinishRule::keep : caption::FinishRule::shrink,
      .rules = rules(options),
      .special = {}};
}

caption::SamplingOptions sampling_options(const CaptionOptions& options) {
  return {.temperature = options.temperature,
          .top_k = options.top_k,
          .top_p = options.top_p,
          .alpha = options.length_exponent,
          .rules = rules(options),
          .special = {}};
}

/// What is found of a photo.
struct Said {
  PhotoCaptions captions;
  std::optional<CaptionAudit> audit;
};

/// Writes captions photo by photo.
class Writer {
 public:
  Writer(const CaptionOptions& options, caption::Captioner captioner)
      : options_(options), captioner_(std::move(captioner)), random_(options.seed) {
    if (options.audit.audit) {
      auditor_.emplace(captioner_, options.audit, beam_options(options), options.seed);
    }
  }
  Writer(const Writer&) = delete;  // the auditor refers to its captioner
  Writer& operator=(const Writer&) = delete;

  Said captions(const EncodedPhoto& photo) {
    require_grid(photo);
    PhotoCaptions result{.path = photo.photo.path,
                         .size = photo.photo.size,
                         .view = photo.photo.prepared->view,
                         .rows = static_cast<int>(photo.annotations.rows),
                         .columns = static_cast<int>(photo.annotations.columns),
                         .captions = {}};
    const std::vector<caption::Caption> found = said(photo.annotations);
    for (const caption::Caption& one : found) {
      result.captions.push_back(caption_text(one, captioner_.vocabulary));
    }
    Said all{.captions = std::move(result), .audit = {}};
    if (auditor_) {
      all.audit =
          auditor_->audit({all.captions, photo.annotations, found.front(), photo.photo.index});
    }
    return all;
  }

 private:
  void require_grid(const EncodedPhoto& photo) const {
    const caption::Annotations& seen = photo.annotations;
    if (seen.rows == captioner_.rows && seen.columns == captioner_.columns) return;
    throw UsageError(fmt::format(
        "the encoder gives a grid of {} x {}, but the captioner learned from one of {} x {}",
        seen.rows, seen.columns, captioner_.rows, captioner_.columns));
  }

  std::vector<caption::Caption> said(const caption::Annotations& annotations) {
    if (!options_.sample) {
      return caption::captions_of(captioner_.decoder, annotations, beam_options(options_)).front();
    }
    std::vector<caption::Caption> drawn;
    for (int i = 0; i < options_.best; ++i) {
      std::vector<RandomNumbers> words{RandomNumbers(combined_seed({options_.seed, count_++}))};
      drawn.push_back(caption::drawn_captions(captioner_.decoder, annotations, words,
                                              sampling_options(options_), &random_)
                          .front());
    }
    return drawn;
  }

  const CaptionOptions& options_;
  caption::Captioner captioner_;
  RandomNumbers random_;  ///< places of hard attention
  std::uint64_t count_ = 0;
  std::optional<CaptionAuditor> auditor_{};
};

void print(const Said& said, output::Format format) {
  if (!said.audit) return output::print(render(said.captions, format));
  if (format == output::Format::text) {
    return output::print(render(said.captions, format) + audit_text(said.audit->figures));
  }
  nlohmann::ordered_json json = caption_json(said.captions);
  json["audit"] = audit_json(*said.audit);
  output::print(output::json_line(json));
}

/// What all photos show together.
void print_population(const std::vector<CaptionAuditFigures>& audits, output::Format format) {
  const CaptionAuditFigures all = mean_caption_audit(audits);
  output::print(format == output::Format::json
                    ? output::json_line({{"population", audit_json(all)}})
                    : fmt::format("{} photos, means\n", all.photos) + audit_text(all));
}

/// \throws UsageError when options don't go together
void check_options(const CaptionOptions& options) {
  if (options.model.empty()) {
    throw UsageError("--model is missing: expected the folder of a captioner");
  }
  if (options.best > options.beam && !options.sample) {
    throw UsageError(fmt::format("--best {} of --beam {}: expected at most as many", options.best,
                                 options.beam));
  }
  if (!options.audit.audit) {
    if (options.audit.masks.empty()) return;
    throw UsageError("--masks says what an audit looks at; add --audit");
  }
  if (options.sample) {
    throw UsageError(
        "--audit searches again for the likeliest caption, and --sample draws one: expected one of "
        "them");
  }
  if (options.format == "csv") {
    throw UsageError("--audit has no columns in CSV: expected --format text or json");
  }
}

int caption_photos(const CaptionOptions& options) {
  const output::Format format = output::parse_format(options.format);
  check_options(options);
  int failed = 0;
  const std::vector<std::string> paths = find_photos(options.photos, failed);
  const std::vector<std::string> strips =
      picture_files(paths, {"--overlay", options.overlay, options.force});
  check_caption_page(options.html, options.force, paths.size());
  apply_threads(options.run);
  caption::Captioner captioner = caption::open_captioner(options.model);
  const caption::Encoder encoder =
      caption::open_encoder_of(captioner, options.model, options.encoder);
  report::CaptionPage page = caption_page(options.model, captioner, encoder.specification());
  const drawing::Font font = drawing::Font::find();
  Writer writer(options, std::move(captioner));
  if (!options.overlay.empty() && !names_a_picture(options.overlay)) {
    std::filesystem::create_directories(options.overlay);
  }
  output::print(caption_header(format));
  std::vector<CaptionAuditFigures> audits;
  const auto use = [&](const EncodedPhoto& photo) {
    const Said said = writer.captions(photo);
    print(said, format);
    if (said.audit) audits.push_back(said.audit->figures);
    if (options.overlay.empty() && options.html.empty()) return;
    const PhotoCaptions& captions = said.captions;
    const image::Picture picture = image::decode(captions.path, decode_options(options.photos));
    if (!options.html.empty()) page.photos.push_back(captioned_photo(picture, captions));
    if (options.overlay.empty()) return;
    drawing::write_picture(strips[photo.photo.index],
                           draw_caption(picture, captions, captions.captions.front(), {}, font),
                           options.force);
  };
  const RunReport done = encode_photos(encoder, paths, options.run, options.photos, failed, use);
  if (audits.size() > 1) print_population(audits, format);
  if (!page.photos.empty()) {
    const std::string written = write_caption_page(options.html, std::move(page), options.force);
    if (!options.run.quiet) output::note(written);
  }
  return done.exit_status();
}

constexpr const char* kExamples =
    R"(Text is the best caption of each photo; with --best N the log-probabilities of the N best follow.
--format json tells every word with its log-probability and the cell that it looked at most.

Examples:
  vitascope caption photo.jpg --model captioner
  vitascope caption photos/ --model captioner --best 3 --format json
  vitascope caption photo.jpg --model captioner --overlay words.png
  vitascope caption photos/ --model captioner --best 3 --html page.html
  vitascope caption scenes/images/test_*.png --model captioner --audit --masks scenes/instances.json)";

void add_sentence_options(CLI::App& command, CaptionOptions& options) {
  const std::string group = "Sentences";
  const auto add = [&](const char* flag, auto& value, const char* type, const char* help) {
    return command.add_option(flag, value, help)->type_name(type)->group(group);
  };
  add("--beam", options.beam, "N", "sentences that are followed side by side; 1: greedy")
      ->check(whole_number(1, 1000));
  add("--best", options.best, "N", "captions of each photo")->check(whole_number(1, 1000));
  add("--max-words", options.longest, "N", "longest caption")->check(whole_number(1, 1000));
  add("--min-words", options.shortest, "N", "shortest caption")->check(whole_number(1, 1000));
  add("--no-repeat", options.no_repeat, "N", "no run of so many words comes twice; 0: it may")
      ->check(whole_number(0, 1000));
  add("--length-exponent", options.length_exponent, "X",
      "log-probabilities are divided by the length to this power; 0: short captions win")
      ->check(number(0, 10));
  add("--finish", options.finish, "keep|shrink", "whether the beam stays as wide when one ends")
      ->check(one_of({"keep", "shrink"}));
  command.add_flag("--sample", options.sample, "draw captions at random")->group(group);
  add("--temperature", options.temperature, "X", "of drawing: below 1 likely words are likelier")
      ->check(number(0.01, 100));
  add("--top-k", options.top_k, "N", "draw among the N likeliest words; 0: all")
      ->check(whole_number(0, 1'000'000));
  add("--top-p", options.top_p, "P", "draw among the likeliest words of this probability")
      ->check(number(0.001, 1));
  add("--seed", options.seed, "N", "of what is drawn");
}

}  // namespace

std::function<int()> declare_caption(CLI::App& command) {
  const auto options = std::make_shared<CaptionOptions>();
  const std::string group = "Results";
  add_photo_options(command, options->photos);
  command.add_option("-m,--model", options->model, "folder of a captioner")
      ->type_name("DIR")
      ->group("Model");
  command
      .add_option("--encoder", options->encoder,
                  "the weights that it sees through, where they are not found")
      ->type_name("PATH")
      ->group("Model");
  add_sentence_options(command, *options);
  command.add_option("--format", options->format, "text, JSON (one object a line) or CSV")
      ->type_name("text|json|csv")
      ->check(one_of({"text", "json", "csv"}))
      ->group(group);
  command
      .add_option("--overlay", options->overlay,
                  "picture of where each word looked; of several photos a folder of them")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--html", options->html,
                  "page of all photos: point at a word to see where it looked")
      ->type_name("FILE")
      ->group(group);
  command.add_flag("--force", options->force, "overwrite what --overlay and --html name")
      ->group(group);
  add_caption_audit_options(command, options->audit);
  add_run_options(command, options->run);
  command.footer(caption_audit_help() + "\n" + kExamples);
  return [options] { return caption_photos(*options); };
}

}  // namespace vitascope::app
