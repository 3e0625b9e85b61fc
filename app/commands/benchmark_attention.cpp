#include "app/commands/benchmark_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/attention_benchmark.h"
#include "app/cpu_info.h"
#include "app/measure.h"
#include "app/options.h"
#include "app/output.h"
#include "app/values.h"
#include "kernels/cpu/isa.h"

namespace vitascope::app {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  AttentionSize size;
  std::vector<long> tokens{197, 257, 577, 1025, 1370};
  std::vector<std::string> precisions{"fp32"};
  int warm_up = 2, repeat = 10;
  RunOptions run;
  std::string format = "text";
};

/// The quickest of LibTorch's own in the same direction.
double sdpa_median(const std::vector<AttentionTimes>& times, bool backward) {
  double best = 0;
  for (const AttentionTimes& one : times) {
    if (one.backend == "fused" || one.backward != backward) continue;
    const double median = spread(one.seconds).median;
    if (best == 0 || median < best) best = median;
  }
  return best;
}

std::string render(const AttentionSize& size, const std::string& precision,
                   const std::vector<AttentionTimes>& times, output::Format format) {
  std::string text;
  for (const AttentionTimes& one : times) {
    const double seconds = spread(one.seconds).median;
    const double gflops = size.operations(one.backward) / seconds / 1e9;
    const double ratio = sdpa_median(times, one.backward) / seconds;
    const char* direction = one.backward ? "backward" : "forward";
    if (format == output::Format::json) {
      const Json json{{"tokens", size.tokens},  {"head_width", size.width},
                      {"precision", precision}, {"direction", direction},
                      {"backend", one.backend}, {"milliseconds", 1000 * seconds},
                      {"gflops", gflops},       {"ratio_to_sdpa", ratio},
                      {"batch", size.batch},    {"heads", size.heads}};
      text += json.dump() + "\n";
    } else {
      text +=
          fmt::format("{:>6} {:>5} {:>4} {:<8} {:<10} {:>9.2f} {:>8.1f} {:>6.2f}\n", size.tokens,
                      size.width, precision, direction, one.backend, 1000 * seconds, gflops, ratio);
    }
  }
  return text;
}

int benchmark_attention(const Options& options) {
  const output::Format format = output::parse_format(options.format);
  const int threads = apply_threads(options.run);
  if (format != output::Format::json) {
    output::print(
        fmt::format("{}, {} threads, kernels for {}; batch {}, {} heads\n\n"
                    "{:>6} {:>5} {:>4} {:<8} {:<10} {:>9} {:>8} {:>6}\n",
                    cpu_info().name, threads, kernels::cpu::isa_name(kernels::cpu::chosen_isa()),
                    options.size.batch, options.size.heads, "tokens", "width", "", "", "",
                    "median ms", "GFLOP/s", "ratio"));
  }
  for (const std::string& precision : options.precisions) {
    for (const long tokens : options.tokens) {
      AttentionSize size = options.size;
      size.tokens = tokens;
      const auto times = measure_attention(size, precision == "bf16" ? at::kBFloat16 : at::kFloat,
                                           options.warm_up, options.repeat);
      output::print(render(size, precision, times, format));
    }
  }
  return 0;
}

void add_sizes(CLI::App& command, Options& options) {
  const std::string group = "Sizes";
  const auto add = [&](const char* name, std::int64_t& value, const char* help) {
    command.add_option(name, value, help)
        ->type_name("N")
        ->check(whole_number(1, 65536))
        ->group(group);
  };
  add("--batch", options.size.batch, "pictures");
  add("--heads", options.size.heads, "heads");
  add("--head-width", options.size.width, "numbers a head");
  command.add_option("--tokens", options.tokens, "lengths of the sequence")
      ->type_name("N,...")
      ->delimiter(',')
      ->check(whole_number(1, 65536))
      ->group(group);
  command.add_option("--precision", options.precisions, "of the inputs")
      ->type_name("fp32|bf16,...")
      ->delimiter(',')
      ->check(one_of({"fp32", "bf16"}))
      ->group(group);
}

}  // namespace

std::function<int()> declare_benchmark_attention(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  add_sizes(command, *options);
  const std::string group = "Measuring";
  command.add_option("--repeat", options->repeat, "timed runs of each backend")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000))
      ->group(group);
  command.add_option("--warmup", options->warm_up, "runs before them, not timed")
      ->type_name("N")
      ->check(whole_number(0, 1'000'000))
      ->group(group);
  command
      .add_option("--threads", options->run.threads,
                  "threads; 0 takes the cores that this process may use")
      ->type_name("N")
      ->check(whole_number(0, 1024))
      ->group(group);
  command.add_option("--format", options->format, "text, or JSON (one object a line)")
      ->type_name("text|json")
      ->check(one_of({"text", "json"}))
      ->group(group);
  command.footer(
      R"(Backends are run in turn, round after round; the ratio is that of the medians to the quicker of
LibTorch's two (flash and math) in the same direction. The fused kernels read the packed projection
and write what the output projection reads; LibTorch's get contiguous heads. JSON keys: tokens,
head_width, precision, direction, backend, milliseconds, gflops, ratio_to_sdpa, batch, heads.
Example:
  vitascope benchmark-attention --tokens 197,1370 --precision fp32,bf16)");
  return [options] { return benchmark_attention(*options); };
}

}  // namespace vitascope::app
