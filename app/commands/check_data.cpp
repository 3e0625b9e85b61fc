#include "app/commands/check_data.h"

#include <algorithm>
#include <memory>
#include <string>

#include "app/cores.h"
#include "app/data_report.h"
#include "app/interrupt.h"
#include "app/labelled_run.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/values.h"
#include "datasets/check.h"

namespace vitascope::app {
namespace {

struct Options {
  std::string data;
  datasets::CheckOptions check;
  std::string format = "text";
  int threads = 0;
  bool quiet = false;
};

int check_data(const Options& options) {
  const datasets::LabelledImages images = open_data(options.data);
  datasets::CheckOptions check = options.check;
  const int cores = available_cores();
  check.threads = options.threads > 0 ? std::min(options.threads, cores) : cores;
  const Interrupt interrupt;
  datasets::CheckReport report;
  {
    Progress progress(images.samples.size(), options.quiet);
    report = datasets::check(images, check, [&](std::size_t done) {
      progress.show(done);
      return !interrupt.requested();
    });
  }
  output::print(options.format == "json" ? data_report_json(images, report)
                                         : data_report_text(images, report));
  if (report.interrupted) return 130;
  return report.broken.empty() ? 0 : 1;
}

constexpr const char* kExamples =
    R"(Understands class folders (in train/ and val/ or not), labels.csv or .jsonl (path, label or labels,
split, weight), Hugging Face's metadata.csv or .jsonl, CIFAR's binary files, IDX as MNIST's.
Exit status 1 when a picture is broken; what else is found is told and changes nothing.
JSON keys: source, multi_label, pictures, checked, interrupted, splits, classes [{train, validation,
test, unsplit, name}], notes, uneven, broken, damaged, tiny, misnamed [{path, message}], duplicates
[{kind, pictures [{path, split, labels}]}].

Examples:
  vitascope check-data photos/
  vitascope check-data photos/labels.csv --format json)";

}  // namespace

std::function<int()> declare_check_data(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  const std::string data = "Data";
  command.add_option("data", options->data, "a folder, or a table of photos and labels")
      ->type_name("DATA")
      ->group(data);
  command
      .add_option("--smallest", options->check.smallest,
                  "photos with a shorter edge than this are tiny")
      ->type_name("PIXELS")
      ->check(whole_number(1, 100000))
      ->group(data);
  command
      .add_flag("--allow-truncated", options->check.decode.allow_truncated,
                "a damaged JPEG is told, but not broken")
      ->group(data);
  command
      .add_option("--max-pixels", options->check.decode.max_megapixels,
                  "largest photo, in megapixels")
      ->type_name("N")
      ->check(number(0.001, 100000))
      ->group(data);
  const std::string running = "Running";
  command.add_option("--format", options->format, "text, or JSON (one object)")
      ->type_name("text|json")
      ->check(one_of({"text", "json"}))
      ->group(running);
  command
      .add_option("--threads", options->threads,
                  "threads; 0 takes the cores that this process may use, never more")
      ->type_name("N")
      ->check(whole_number(0, 1024))
      ->group(running);
  command.add_flag("-q,--quiet", options->quiet, "only the report")->group(running);
  command.footer(kExamples);
  return [options] { return check_data(*options); };
}

}  // namespace vitascope::app
