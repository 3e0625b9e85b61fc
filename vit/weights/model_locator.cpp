#include "vit/weights/model_locator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "vit/error.h"
#include "vit/model/architectures.h"
#include "vit/text.h"
#include "vit/weights/hub_cache.h"

namespace vitascope::weights {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kWeightEndings{".safetensors", ".pth",  ".pt",
                                                         ".bin",         ".ckpt", ".npz"};
constexpr std::string_view kIndexEnding = ".index.json";

/// Beginnings of files that trainers and other programs leave beside the weights of a model.
constexpr std::array<std::string_view, 8> kNotTheModel{
    "training_args", "optimizer",     "scheduler", "scaler",
    "rng_state",     "random_states", "adapter_",  "open_clip"};

// The names that libraries write, the preferred one first.
constexpr std::array<std::string_view, 4> kUsualNames{
    "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
    "pytorch_model.bin.index.json"};

bool has_weight_ending(std::string_view name) {
  return name.ends_with(kIndexEnding) ||
         std::ranges::any_of(kWeightEndings, [&](auto ending) { return name.ends_with(ending); });
}

/// model-00001-of-00003.safetensors: only its index knows what belongs together.
bool is_shard(std::string_view name) { return name.find("-of-") != std::string_view::npos; }

/// model.fp16.safetensors beside model.safetensors: the same weights, rounded on purpose.
bool is_variant(std::string_view name) {
  return (name.starts_with("model.") || name.starts_with("pytorch_model.")) &&
         std::ranges::count(name, '.') == 2 && !name.ends_with(kIndexEnding);
}

bool is_candidate(std::string_view name) {
  return has_weight_ending(name) && !is_shard(name) && !name.starts_with('.') &&
         std::ranges::none_of(kNotTheModel, [&](auto start) { return name.starts_with(start); });
}

std::size_t rank_of(const std::string& name) {
  const auto* usual = std::ranges::find(kUsualNames, name);
  if (usual != kUsualNames.end()) return static_cast<std::size_t>(usual - kUsualNames.begin());
  return kUsualNames.size() + (name.starts_with("model.") ? 0 : 1) +
         (name.ends_with(".npz") ? 2 : 0);
}

struct Listing {
  std::vector<std::string> files, folders;
};

Listing list(const std::string& folder) {
  constexpr std::size_t kMost = 10000;
  Listing listing;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (listing.files.size() + listing.folders.size() >= kMost) break;
    auto& names = it->is_directory(error) ? listing.folders : listing.files;
    names.push_back(it->path().filename().string());
  }
  if (error) throw InputError(folder, fmt::format("can't be listed: {}", error.message()));
  std::ranges::sort(listing.files, natural_less);
  std::ranges::sort(listing.folders, natural_less);
  return listing;
}

/// "holds a.jpg, b.jpg, c.jpg and 9 more", for a folder that is no model.
std::string contents(const Listing& listing) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> names;
  names.reserve(listing.folders.size() + listing.files.size());
  for (const std::string& folder : listing.folders) names.push_back(printable(folder) + "/");
  for (const std::string& file : listing.files) names.push_back(printable(file));
  if (names.empty()) return "is empty";
  const std::size_t shown = std::min(kShown, names.size());
  std::string text = fmt::format(
      "holds {}", fmt::join(names.begin(), names.begin() + std::ptrdiff_t(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::string beside(const std::string& folder, const std::string& name) {
  std::error_code error;
  const fs::path path = fs::path(folder) / name;
  return fs::is_regular_file(path, error) ? path.string() : "";
}

ModelFiles describe_folder(const std::string& folder) {
  return {
      beside(folder, "config.json"), beside(folder, "preprocessor_config.json"), {}, folder, {}};
}

/// A folder below that would open, for the message about one that doesn't.
std::string model_below(const std::string& folder, const Listing& listing) {
  for (auto name = listing.folders.rbegin(); name != listing.folders.rend(); ++name) {
    const std::string below = (fs::path(folder) / *name).string();
    if (beside(below, "config.json").empty()) continue;
    return fmt::format("; its folder '{}' looks like one", printable(*name));
  }
  return "";
}

ModelFiles in_folder(const std::string& folder) {
  ModelFiles files = describe_folder(folder);
  const Listing listing = list(folder);
  std::vector<std::string> names;
  std::ranges::copy_if(listing.files, std::back_inserter(names), is_candidate);
  std::ranges::stable_sort(names, {}, rank_of);
  const bool usual = !names.empty() && is_usual_name(names.front());
  if (usual) std::erase_if(names, is_variant);
  for (const std::string& name : names) files.weights.push_back((fs::path(folder) / name).string());
  if (!files.weights.empty()) return files;
  throw InputError(
      folder,
      fmt::format("{} no model: expected model.safetensors (or pytorch_model.bin, .pth, .npz){}; "
                  "it {}{}",
                  files.config.empty() ? "is" : "has a config.json but no weights, so it is",
                  files.config.empty() ? " and config.json" : " beside it", contents(listing),
                  model_below(folder, listing)));
}

ModelFiles of_file(const std::string& path) {
  const fs::path file(path);
  const std::string name = file.filename().string();
  if (!has_weight_ending(name)) {
    throw InputError(path, name == "config.json"
                               ? std::string("is a configuration: name its folder instead")
                               : fmt::format("is no weight file by its name: expected a folder, "
                                             "or a file ending in {}",
                                             fmt::join(kWeightEndings, ", ")));
  }
  const std::string folder = file.parent_path().empty() ? "." : file.parent_path().string();
  ModelFiles files = describe_folder(folder);
  files.weights = {path};
  return files;
}

[[noreturn]] void fail_not_found(const std::string& model) {
  if (const auto repository = parse_repository(model)) {
    throw InputError(
        model, fmt::format("is no folder here and not in the Hugging Face cache ({}): download it "
                           "with '{}' (pip install huggingface_hub)",
                           printable(hugging_face_cache()), download_command(*repository)));
  }
  if (model::architecture(model)) {
    throw InputError(
        model,
        fmt::format("is a timm architecture, not in the Hugging Face cache ({}): download "
                    "its weights with '{}' (pip install huggingface_hub)",
                    printable(hugging_face_cache()), download_command({"timm/" + model, "main"})));
  }
  const fs::path path(model);
  const std::string folder = path.parent_path().empty() ? "." : path.parent_path().string();
  std::error_code error;
  std::string nearest;
  if (fs::is_directory(folder, error)) {
    Listing listing = list(folder);
    std::vector<std::string> names = std::move(listing.folders);
    std::ranges::copy_if(listing.files, std::back_inserter(names), has_weight_ending);
    nearest = nearest_name(path.filename().string(), names);
  }
  throw InputError(
      model,
      fmt::format("no such file or folder{}: expected a model's folder, a weight file, or "
                  "org/name of the Hugging Face hub",
                  nearest.empty() ? "" : fmt::format(" (there is '{}')", printable(nearest))));
}

}  // namespace

bool is_usual_name(const std::string& path) {
  return rank_of(fs::path(path).filename().string()) < kUsualNames.size();
}

ModelFiles locate_model(const std::string& model) {
  std::error_code error;
  if (model.empty()) throw UsageError("--model is empty: expected a model's folder or file");
  if (fs::is_directory(model, error)) return in_folder(model);
  if (fs::exists(model, error)) return of_file(model);

  std::optional<Repository> repository = parse_repository(model);
  // A bare name may be a file of torch.hub, or one of timm's names, whose repositories are timm/...
  if (const auto checkpoint = cached_checkpoint(model); !repository && checkpoint) {
    ModelFiles files = of_file(*checkpoint);
    files.config.clear();
    files.preprocessor.clear();
    files.notes.push_back(fmt::format("found in torch's cache: {}", printable(*checkpoint)));
    return files;
  }
  if (!repository && model::architecture(model)) repository = Repository{"timm/" + model, "main"};
  if (repository) {
    if (const auto snapshot = cached_snapshot(*repository)) {
      ModelFiles files = in_folder(*snapshot);
      files.notes.push_back(
          fmt::format("found in the Hugging Face cache: {}", printable(*snapshot)));
      return files;
    }
  }
  fail_not_found(model);
}

}  // namespace vitascope::weights
