#include "app/commands/embed.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "app/options.h"
#include "app/output.h"
#include "app/photo_run.h"
#include "app/saved_rows.h"
#include "app/values.h"
#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

struct EmbedOptions {
  ModelOptions model;
  RunOptions run;
  PhotoOptions photos;
  std::string output;
  std::string pool = "features";
  bool force = false;
};

enum class FileKind { safetensors, npy, csv };

/// \throws UsageError when the name's end says none of the formats
FileKind file_kind(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".safetensors") return FileKind::safetensors;
  if (extension == ".npy") return FileKind::npy;
  if (extension == ".csv") return FileKind::csv;
  throw UsageError("--output: " + in_quotes(path) +
                   " ends in none of .safetensors, .npy, .csv, which choose the format");
}

void check_options(const EmbedOptions& options) {
  if (options.output.empty()) {
    throw UsageError(
        "no file to write is given; --output takes one that ends in .safetensors, .npy "
        "or .csv");
  }
  if (file_kind(options.output) == FileKind::csv && options.pool == "patch") {
    throw UsageError(
        "--pool patch gives a matrix a photo, which CSV can't hold; write .safetensors "
        "or .npy");
  }
}

/// \throws UsageError when the model has no token of that kind
void check_pool(const std::string& pool, const weights::Model& model) {
  if (pool == "class" && !model.network.config().class_token) {
    throw UsageError("--pool class: " + model.name +
                     " has no class token; --pool mean takes the mean of its patches");
  }
}

/// The embedding of one photo.
/// \return [C], [patches, C], or what the head sees
at::Tensor embedding(const model::Output& output, const std::string& pool,
                     const model::Config& config) {
  if (pool == "features") return output.features.squeeze(0);
  const at::Tensor tokens = output.tokens.squeeze(0).to(at::kFloat);
  if (pool == "class") return tokens.select(0, 0);
  const at::Tensor patches = tokens.slice(0, config.prefix_tokens());
  return pool == "mean" ? patches.mean(0) : patches;
}

void write(const EmbedOptions& options, const SavedRows& rows,
           const std::vector<std::string>& photos, const std::string& model) {
  if (photos.empty()) return;
  switch (file_kind(options.output)) {
    case FileKind::npy:
      write_npy(options.output, rows, options.force);
      break;
    case FileKind::csv:
      write_csv(options.output, photos, rows, options.force);
      break;
    case FileKind::safetensors:
      weights::write_safetensors(options.output, {rows.tensor()}, saved_metadata(photos, model),
                                 options.force);
  }
  if (options.run.quiet) return;
  output::note(fmt::format("wrote {}: {} photos, shape {}", options.output, photos.size(),
                           shape_text(rows.shape())));
}

int embed(const EmbedOptions& options) {
  check_options(options);
  check_writable(options.output, options.force);
  int failed = 0;
  const std::vector<std::string> paths = find_photos(options.photos, failed);
  const weights::Model model =
      open_model(options.model, options.run, /*pack=*/paths.size() >= kPackFrom);
  check_pool(options.pool, model);
  require_specification(model);
  SavedRows rows("embeddings");
  std::vector<std::string> photos;
  const auto use = [&](const PhotoResult& result) {
    rows.add(embedding(result.output, options.pool, model.network.config()), result.photo.path);
    photos.push_back(result.photo.path);
  };
  RunReport report;
  try {
    report = run_photos(model, paths, options.run, options.photos, failed, {use});
  } catch (...) {
    write(options, rows, photos, model.name);  // what was done before the failure is kept
    throw;
  }
  write(options, rows, photos, model.name);
  return report.exit_status();
}

constexpr const char* kExamples =
    R"(Rows are in the order of the photos; photos that failed are named on stderr and have no row.
.safetensors holds the paths as a JSON list under "paths" in its metadata, .csv in its first column.

Examples:
  vitascope embed photos/ --model build/models/everyday --output photos.npy
  vitascope embed photos/*.jpg --model facebook/dinov2-small --pool patch --output patches.safetensors)";

}  // namespace

std::function<int()> declare_embed(CLI::App& command) {
  const auto options = std::make_shared<EmbedOptions>();
  const std::string group = "Results";
  add_photo_options(command, options->photos);
  command.add_option("-o,--output", options->output, "file to write: .safetensors, .npy or .csv")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--pool", options->pool,
                  "what the head sees, class token, mean of the patches, or every patch")
      ->type_name("features|class|mean|patch")
      ->check(one_of({"features", "class", "mean", "patch"}))
      ->group(group);
  command.add_flag("--force", options->force, "overwrite the file of --output")->group(group);
  add_model_options(command, options->model);
  add_run_options(command, options->run);
  command.footer(kExamples);
  return [options] { return embed(*options); };
}

}  // namespace vitascope::app
