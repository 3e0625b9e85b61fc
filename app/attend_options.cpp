#include "app/attend_options.h"

#include <fmt/format.h>

#include <tuple>

#include "app/drawing/write_picture.h"
#include "app/map_file.h"
#include "app/values.h"
#include "vit/error.h"

namespace vitascope::app {
namespace {

/// "2,98": percentiles.
/// \throws UsageError
std::pair<double, double> parse_clip(const std::string& text) {
  const auto [low, high] = parse_pair(text);
  if (low >= 0 && low < high && high <= 100) return {low, high};
  throw UsageError(in_quotes(text) + ": expected two percentiles, 0 <= LOW < HIGH <= 100");
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const explain::Method& method : explain::methods()) names.emplace_back(method.name);
  return names;
}

std::string methods_help() {
  std::string text = "Methods:\n";
  for (const explain::Method& method : explain::methods()) {
    text += fmt::format("  {:<17} {}\n", method.name, method.summary);
  }
  return text;
}

void add_map_options(CLI::App& command, AttendOptions& options) {
  const std::string group = "What is shown";
  command.add_option("--method", options.maps.methods, "how; several are drawn side by side")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->check(one_of(method_names()))
      ->group(group);
  command
      .add_option("--class", options.of_class,
                  "class that is explained: predicted, top-K, a label or a number")
      ->type_name("CLASS")
      ->group(group);
  command
      .add_option("--layer", options.maps.layer,
                  "of raw attention, from 0; -1 is the last [default: the last]")
      ->type_name("N")
      ->group(group);
  command.add_option("--head", options.maps.head, "a head, from 0, or how all are fused")
      ->type_name("N|mean|max|min")
      ->group(group);
  command
      .add_option("--from", options.from,
                  "attention of the patch at this pixel of the photo, not of the class token")
      ->type_name("X,Y")
      ->check(accepted_by(parse_pair))
      ->group(group);
  command.add_option("--grid", options.maps.grid, "every head, layer or method side by side")
      ->type_name("heads|layers|methods")
      ->check(one_of({"heads", "layers", "methods"}))
      ->group(group);
  command
      .add_option("--discard", options.maps.discard,
                  "share of the lowest attention that rollout discards")
      ->type_name("R")
      ->check(number(0, 0.999))
      ->group(group);
  command
      .add_option("--discard-keeps", options.maps.discard_rule,
                  "what rollout never discards: the first entry, the class token's column, "
                  "nothing")
      ->type_name("first|class-column|none")
      ->check(one_of({"first", "class-column", "none"}))
      ->group(group);
  command
      .add_option("--occlusion-edge", options.maps.occlusion.edge,
                  "edge of occlusion's square, in input pixels; 0: a patch")
      ->type_name("N")
      ->check(whole_number(0, 4096))
      ->group(group);
  command
      .add_option("--occlusion-stride", options.maps.occlusion.stride,
                  "from one square to the next; 0: its edge")
      ->type_name("N")
      ->check(whole_number(0, 4096))
      ->group(group);
  command.add_option("--rise-masks", options.maps.rise_masks, "passes that rise takes")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000))
      ->group(group);
  command.add_option("--seed", options.maps.seed, "of random and rise")
      ->type_name("N")
      ->group(group);
}

void add_picture_options(CLI::App& command, AttendOptions& options) {
  const std::string group = "Pictures";
  command
      .add_option("-o,--output", options.output,
                  "picture to write (.png, .jpg, .webp), or a folder for several photos")
      ->type_name("FILE|FOLDER")
      ->group(group);
  command
      .add_option("--upsampling", options.upsampling,
                  "between patches; nearest shows them as they are")
      ->type_name("nearest|bilinear|bicubic")
      ->check(one_of({"nearest", "bilinear", "bicubic"}))
      ->group(group);
  command.add_option("--colours", options.colours, "colour map")
      ->type_name("viridis|inferno|turbo|grey")
      ->check(one_of(drawing::colour_map_names()))
      ->group(group);
  command.add_option("--alpha", options.alpha, "0: only the photo; 1: only the map")
      ->type_name("A")
      ->check(number(0, 1))
      ->group(group);
  command.add_option("--clip", options.clip, "percentiles that get the first and last colour")
      ->type_name("LOW,HIGH")
      ->check(accepted_by(parse_clip))
      ->group(group);
  command.add_flag("--contour", options.contour, "outline of the top 20% of the area")
      ->group(group);
  command.add_option("--width", options.width, "of the picture; 0: the photo's")
      ->type_name("N")
      ->check(whole_number(0, 32768))
      ->group(group);
  command.add_flag("--no-caption", options.no_caption, "the picture alone")->group(group);
  command.add_option("--contact-sheet", options.contact_sheet, "also all photos in one picture")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--html", options.html,
                  "also a page of one photo: every layer and head, and what each patch attends to")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--save-map", options.save_map,
                  "also the numbers of one photo's map (.json, .npy)")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--format", options.format, "what is printed: text, or JSON (one object a line)")
      ->type_name("text|json")
      ->check(one_of({"text", "json"}))
      ->group(group);
  command.add_flag("--force", options.force, "overwrite files")->group(group);
}

constexpr const char* kExamples = R"(
A map shows where information could flow, not why the model decided: --audit says how far to believe it.

Examples:
  vitascope attend photo.jpg --model build/models/everyday --output looked.png
  vitascope attend photo.jpg --model build/models/everyday --grid heads --output heads.png
  vitascope attend photo.jpg --model build/models/everyday --method raw,rollout,relevance --html page.html
  vitascope attend photos/ --model build/models/everyday --method relevance --class cat --output maps/
  vitascope attend photo.jpg --model build/models/everyday --method relevance --audit
  vitascope attend --data photos/ --model build/models/everyday --audit --masks instances.json --format json)";

}  // namespace

MapStyle map_style(const AttendOptions& options) {
  MapStyle style;
  style.overlay.colours = *drawing::find_colour_map(options.colours);
  style.overlay.upsampling = options.upsampling == "nearest"    ? drawing::Upsampling::nearest
                             : options.upsampling == "bilinear" ? drawing::Upsampling::bilinear
                                                                : drawing::Upsampling::bicubic;
  style.overlay.alpha = options.alpha;
  std::tie(style.overlay.low_percentile, style.overlay.high_percentile) = parse_clip(options.clip);
  style.overlay.contour = options.contour;
  style.overlay.width = options.width;
  style.caption = !options.no_caption;
  style.shared_range = options.maps.grid == "heads" || options.maps.grid == "layers";
  return style;
}

void check_options(const AttendOptions& options) {
  check_audit(options.audit);
  if (options.output.empty() && options.html.empty() && !options.audit.audit) {
    throw UsageError(
        "no picture to write is given; --output takes one (.png, .jpg, .webp) or a folder, --html "
        "an interactive page; --audit needs none");
  }
  const bool attends =
      options.maps.grid != "methods" && options.maps.methods == std::vector<std::string>{"raw"};
  if (!options.from.empty() && !attends) {
    throw UsageError("--from chooses whose attention is shown, and only --method raw shows it");
  }
  if (!options.save_map.empty()) {
    check_map_file(options.save_map);
    check_writable(options.save_map, options.force);
  }
  if (!options.html.empty()) check_writable(options.html, options.force);
  if (!options.contact_sheet.empty()) {
    drawing::picture_format(options.contact_sheet);
    check_writable(options.contact_sheet, options.force);
  }
}

void check_counts(const AttendOptions& options, std::size_t photos, std::size_t maps) {
  if (!options.html.empty() && photos > 1) {
    throw UsageError(fmt::format("--html is a page of one photo, and there are {}", photos));
  }
  if (options.save_map.empty() || (photos == 1 && maps == 1)) return;
  throw UsageError(
      fmt::format("--save-map holds one map, and this makes {} of {} photos", maps, photos));
}

void add_attend_options(CLI::App& command, AttendOptions& options) {
  add_photo_options(command, options.photos);
  add_map_options(command, options);
  add_picture_options(command, options);
  add_audit_options(command, options.audit);
  add_model_options(command, options.model);
  add_run_options(command, options.run);
  command.footer(methods_help() + "\n" + audit_keys_help() + kExamples);
}

}  // namespace vitascope::app
