#include "app/commands/merge_results.h"

#include <memory>
#include <string>
#include <vector>

#include "app/merged_results.h"
#include "app/values.h"
#include "vit/file.h"

namespace vitascope::app {
namespace {

struct Options {
  std::vector<std::string> parts;
  MergeOptions merge;
};

constexpr const char* kExamples =
    R"(Parts are what the shards of classify or evaluate wrote, all of one run, in any order. Each photo
comes once, in the order of the list; a part that is missing, not finished, damaged or of another run
is named, and nothing is written. The results are, to the byte, those of one process with as many
threads, but for classify's times. Exit status 1 when photos failed, which are named.

Examples:
  vitascope merge-results results.csv.part-* --output results.csv
  vitascope merge-results evaluated.part-* --output evaluated --format json)";

}  // namespace

std::function<int()> declare_merge_results(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  MergeOptions& merged = options->merge;
  const std::string group = "Results";
  command.add_option("parts", options->parts, "all parts of a run")
      ->type_name("PART")
      ->group("Parts");
  command
      .add_option("-o,--output", merged.output,
                  "of classify a file, instead of stdout; of evaluate also a folder of tables, "
                  "pictures and a page")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--format", merged.format,
                  "text, JSON or CSV [default: what the shards were asked for]")
      ->type_name("text|json|csv")
      ->check(one_of({"text", "json", "csv"}))
      ->group(group);
  command.add_flag("--force", merged.force, "overwrite what --output names")->group(group);
  command.add_flag("-q,--quiet", merged.quiet, "only results and errors")->group(group);
  command.footer(kExamples);
  return [options] { return merge(Parts(options->parts), options->merge); };
}

}  // namespace vitascope::app
