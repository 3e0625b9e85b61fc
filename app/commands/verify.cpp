#include "app/commands/verify.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/options.h"
#include "app/output.h"
#include "app/pixel_comparison.h"
#include "app/reference.h"
#include "app/values.h"
#include "vit/error.h"
#include "vit/image/decode.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  ModelOptions model;
  RunOptions run;
  std::string reference;
  std::vector<std::string> images;
  std::optional<double> tolerance;  // by precision
  std::string format = "text";
};

// One photo of the reference: its pixels compared, or why they could not be.
struct PhotoCheck {
  std::string path;
  std::optional<PixelComparison> comparison;
  std::string problem;
  bool failed = false;
};

// bfloat16 has 8 bits of mantissa, and a network adds up its roundings.
double default_tolerance(const std::string& precision) { return precision == "fp32" ? 2e-5 : 5e-2; }

std::string size_text(std::int64_t height, std::int64_t width) {
  return fmt::format("{} x {}", height, width);
}

PhotoCheck compare_photo(const std::string& path, const Reference& reference, std::int64_t index,
                         const image::Specification& specification) {
  PhotoCheck result{.path = path, .comparison = {}, .problem = {}};
  try {
    const image::Picture picture = image::decode(path);
    const image::Size size = image::geometry(specification, picture.size).output;
    if (size.height != reference.height || size.width != reference.width) {
      result.failed = true;
      result.problem = fmt::format(
          "the model's image specification makes {} (height x width), the reference holds {}: "
          "--input-size gives another size",
          size_text(size.height, size.width), size_text(reference.height, reference.width));
      return result;
    }
    const at::Tensor pixels = reference.rows("pixel_values", index, 1).squeeze(0);
    result.comparison = compare_pixels(pixels, picture, specification);
    result.failed = !result.comparison->within_one_level();
  } catch (const InputError& error) {
    result.failed = true;
    result.problem = error.message();
  }
  return result;
}

std::vector<PhotoCheck> compare_photos(const Options& options, const Reference& reference,
                                       const weights::Model& model) {
  const bool named = !options.images.empty();
  const std::vector<std::string>& paths = named ? options.images : reference.images;
  if (paths.empty()) return {};
  if (std::int64_t(paths.size()) != reference.batch) {
    throw UsageError(fmt::format("{}: pixel_values holds {} photos, but {} names {}",
                                 printable(reference.path), reference.batch,
                                 named ? "--image" : "its metadata 'images'", paths.size()));
  }
  const image::Specification& specification = require_specification(model);
  std::vector<PhotoCheck> results;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!named && !std::filesystem::exists(paths[i])) {
      // The reference alone may have been copied here: its outputs still count.
      results.push_back({paths[i],
                         {},
                         "not there, so its pixels are not compared; --image names "
                         "the photo"});
    } else {
      results.push_back(compare_photo(paths[i], reference, std::int64_t(i), specification));
    }
  }
  return results;
}

std::string explain(const PixelComparison& comparison) {
  if (comparison.identical()) return "identical";
  if (std::isnan(comparison.ours.largest)) return "the file's pixels hold NaN";
  if (comparison.causes.empty()) {
    return fmt::format("no known cause explains it; nearest, {:.1f} levels off: {}",
                       comparison.explained.largest, comparison.nearest);
  }
  std::string text;
  for (const Cause& cause : comparison.causes) text += (text.empty() ? "" : "; ") + cause.text;
  return fmt::format("{} (then {:.2g} off at most)", text, comparison.explained.largest);
}

std::string render(const TensorComparison& c) {
  if (!c.mismatch.empty()) return fmt::format("{:<52}  PARTS: {}\n", c.name, c.mismatch);
  return fmt::format("{:<19} {:>10.2e} {:>10.2e} {:>10.2e}  {}\n", c.name, c.largest, c.mean,
                     c.allowed, c.passed() ? "fits" : "PARTS");
}

std::string render(const PhotoCheck& photo) {
  const std::string path = printable(photo.path);
  if (!photo.comparison) return fmt::format("  {}: {}\n", path, printable(photo.problem));
  const LevelDifference& ours = photo.comparison->ours;
  return fmt::format("  {}: largest {:.2f}, mean {:.3f}, {:.1f}% of the values differ: {}\n", path,
                     ours.largest, ours.mean, 100 * ours.share, explain(*photo.comparison));
}

std::string render(const Verification& verification, const std::vector<PhotoCheck>& photos,
                   bool passed) {
  std::string text = fmt::format("{:<19} {:>10} {:>10} {:>10}\n", "", "largest", "mean", "allowed");
  for (const TensorComparison& comparison : verification.comparisons) text += render(comparison);
  if (const TensorComparison* first = verification.first_parting()) {
    text +=
        fmt::format("first parts at {}: look at {}\n", first->name, explain_parting(first->name));
  }
  if (!photos.empty()) text += "pixels, in 8-bit levels\n";
  for (const PhotoCheck& photo : photos) text += render(photo);
  return text + (passed ? "PASS\n" : "FAIL\n");
}

Json to_json(const LevelDifference& difference) {
  return {{"largest", difference.largest}, {"mean", difference.mean}, {"share", difference.share}};
}

Json to_json(const TensorComparison& comparison) {
  Json json{{"name", comparison.name},       {"shape", comparison.shape},
            {"largest", comparison.largest}, {"mean", comparison.mean},
            {"allowed", comparison.allowed}, {"passed", comparison.passed()}};
  if (!comparison.mismatch.empty()) json["mismatch"] = comparison.mismatch;
  return json;
}

Json to_json(const PhotoCheck& photo) {
  Json json{{"path", photo.path}, {"passed", !photo.failed}};
  if (!photo.comparison) {
    json["problem"] = photo.problem;
    return json;
  }
  json["levels"] = to_json(photo.comparison->ours);
  json["causes"] = Json::array();
  for (const Cause& cause : photo.comparison->causes) {
    json["causes"].push_back({{"name", cause.name}, {"text", cause.text}});
  }
  json["explained_levels"] = to_json(photo.comparison->explained);
  return json;
}

std::string render_json(const Options& options, double tolerance, const Verification& verification,
                        const std::vector<PhotoCheck>& photos, bool passed) {
  const TensorComparison* first = verification.first_parting();
  Json json{{"model", options.model.model},
            {"reference", options.reference},
            {"precision", options.run.precision},
            {"tolerance", tolerance},
            {"passed", passed},
            {"first_parting", first ? Json(first->name) : Json()},
            {"comparisons", Json::array()},
            {"pictures", Json::array()},
            {"not_compared", verification.not_compared}};
  for (const TensorComparison& c : verification.comparisons)
    json["comparisons"].push_back(to_json(c));
  for (const PhotoCheck& photo : photos) json["pictures"].push_back(to_json(photo));
  return output::json_line(json);
}

int verify(const Options& options) {
  const output::Format format = output::parse_format(options.format);
  if (options.reference.empty()) {
    throw UsageError(
        "no reference is given; --reference takes a .safetensors file that Python wrote");
  }
  const Reference reference = read_reference(options.reference);
  const weights::Model model = open_model(options.model, options.run, /*pack=*/true);
  const c10::InferenceMode guard;
  const double tolerance = options.tolerance.value_or(default_tolerance(options.run.precision));
  const Verification verification =
      verify_outputs(model.network, reference,
                     {.backend = kernels::parse_backend(options.run.attention),
                      .tolerance = tolerance,
                      .batch = options.run.batch_size});
  const std::vector<PhotoCheck> photos = compare_photos(options, reference, model);

  const bool passed = verification.passed() && std::ranges::none_of(photos, &PhotoCheck::failed);
  output::print(format == output::Format::json
                    ? render_json(options, tolerance, verification, photos, passed)
                    : render(verification, photos, passed));
  return passed ? 0 : 1;
}

}  // namespace

std::function<int()> declare_verify(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  const std::string group = "Comparison";
  command
      .add_option("--reference", options->reference,
                  "pixel_values and any of logits, hidden_states.i, attentions.i, "
                  "last_hidden_state, pooled (.safetensors)")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--image", options->images,
                  "photos that pixel_values were made of, in order, instead of the file's own list")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option(
          "--tolerance", options->tolerance,
          "allowed |difference| / max(1, largest |reference|) [default: 2e-5; 0.05 for bf16]")
      ->type_name("T")
      ->check(number(1e-12, 1e12))
      ->group(group);
  command.add_option("--format", options->format, "text, or JSON (one object)")
      ->type_name("text|json")
      ->check(one_of({"text", "json"}))
      ->group(group);
  add_model_options(command, options->model);
  add_run_options(command, options->run);
  command.footer(
      R"(Exit status 1 when a tensor parts, or when a photo's pixels are more than one 8-bit level off.
JSON keys: model, reference, precision, tolerance, passed, first_parting, comparisons [{name, shape,
largest, mean, allowed, passed}], pictures [{path, passed, levels {largest, mean, share}, causes
[{name, text}], explained_levels}], not_compared.
Causes: torchvision, float_resampling, antialias, filter, crop_rounding, crop_shift, resize,
orientation, channel_order, normalisation.
Example:
  vitascope verify --model google/vit-base-patch16-224 --reference reference.safetensors)");
  return [options] { return verify(*options); };
}

}  // namespace vitascope::app
