#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "app/cores.h"
#include "datasets/loader.h"
#include "vit/image/specification.h"
#include "vit/weights/model_directory.h"

/// \file
/// Flags that several commands share, each declared once, with one line of help and its default.
namespace vitascope::app {

/// --model and what may be said about it.
struct ModelOptions {
  std::string model;
  std::string architecture;
  std::string labels;
  std::string adapter;                                 ///< --adapter FILE, merged when opened
  std::string preprocessor;                            ///< --preprocessor FILE
  std::string input_size;                              ///< --input-size N or HxW
  std::string resize, crop, interpolation, mean, std;  ///< --resize, ...: what the files lack
};

/// How it runs.
struct RunOptions {
  std::string device = "auto";     ///< auto | cpu | cuda[:N]
  int threads = 0;                 ///< 0: the cores that the cgroup grants
  std::string precision = "fp32";  ///< fp32 | bf16
  std::string attention = "auto";  ///< auto | fused | sdpa | math
  int batch_size = 8;
  bool quiet = false;
  bool verbose = false;
};

/// What photos may be.
struct PhotoOptions {
  std::vector<std::string> inputs;
  bool recursive = false;
  bool allow_truncated = false;
  double max_pixels = 180;   ///< megapixels
  std::string tta = "none";  ///< none | flip
};

/// Declares --model, --architecture, --labels and the flags that say how pictures are prepared.
void add_model_options(CLI::App& command, ModelOptions& options);
/// Declares --device, --threads, --precision, --attention, --batch-size, --quiet and --verbose.
void add_run_options(CLI::App& command, RunOptions& options);
/// Declares --allow-truncated and --max-pixels.
void add_decode_options(CLI::App& command, PhotoOptions& options);
/// Declares --tta.
void add_tta_option(CLI::App& command, PhotoOptions& options);
/// Declares INPUT..., --recursive and add_decode_options.
void add_photo_options(CLI::App& command, PhotoOptions& options);

/// What the flags say to vit/weights.
/// \throws UsageError
weights::OpenOptions open_options(const ModelOptions& options, const RunOptions& run);

/// Warns where bf16 is asked of a processor that has no products in it, and so is slower in it.
void warn_of_precision(const RunOptions& run, at::Device device);

/// Makes the device and the threads ready, opens the model that the flags describe, moves it to the
/// device, applies flags to its image specification, and prints its notes to stderr when verbose.
/// \param pack whether weights are only multiplied with, as kernels::pack wants it; heeded on the
///        CPU
/// \throws UsageError or InputError (exit status 2)
weights::Model open_model(const ModelOptions& options, const RunOptions& run, bool pack);

/// The number of photos from which packing wins back the time that it takes.
inline constexpr std::size_t kPackFrom = 4;

/// \throws UsageError when the model can't classify
void require_head(const weights::Model& model);

/// The image specification, or the error that says which flag gives what the files lack.
/// \throws UsageError
const image::Specification& require_specification(const weights::Model& model);

/// --resize, --crop, --interpolation, --mean and --std over what the model's files say. Where the
/// files say nothing, the flags must say all of it.
/// \throws UsageError naming the flags that are missing
void apply_specification_flags(const ModelOptions& options, weights::Model& model);

/// Number of threads that --threads asks for, or of the cores that the cgroup grants.
int thread_count(const RunOptions& run);

/// Sets LibTorch's threads to thread_count(run); returns the number.
int apply_threads(const RunOptions& run);

/// What decoders may take.
image::DecodeOptions decode_options(const PhotoOptions& options);

/// Photos of the inputs ('-' reads a list from stdin, one path a line); failures are printed to
/// stderr and counted in `failed`.
/// \throws UsageError when no input was given at all
std::vector<std::string> find_photos(const PhotoOptions& options, int& failed);

}  // namespace vitascope::app
