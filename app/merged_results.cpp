#include "app/merged_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/evaluation_files.h"
#include "app/labelled_run.h"
#include "app/output.h"
#include "app/part_rows.h"
#include "app/values.h"
#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

bool failed(const Json& photo) { return photo.contains("error"); }

/// Names the photos that failed. \return their number, with inputs that were no photos
int report_failures(const Parts& parts, const std::vector<std::string>& failures, bool name) {
  const int inputs = parts.header().failed_inputs;
  if (name) {
    for (const std::string& failure : failures) output::error(failure);
  }
  if (name && inputs > 0) output::error(fmt::format("{} of the inputs gave no photos", inputs));
  return static_cast<int>(failures.size()) + inputs;
}

int merge_classified(const Parts& parts, const MergeOptions& options, output::Format format) {
  const std::vector<std::string> labels = texts_of(parts.header().details.at("labels"));
  const bool bars = options.output.empty() && output::on_terminal();
  std::vector<std::string> failures;
  const auto rendered = [&](const Json& photo) {
    return output::render(classification_of(photo, labels), format, bars);
  };
  // Nothing is written before all is known to be there.
  parts.for_each([&](const Json& photo) {
    if (failed(photo)) {
      failures.push_back(
          InputError(bytes_of(photo.at("path")), bytes_of(photo.at("error"))).what());
    } else {
      rendered(photo);
    }
  });
  const auto write = [&](const std::function<void(const std::string&)>& append) {
    append(output::header(format));
    parts.for_each([&](const Json& photo) {
      if (!failed(photo)) append(rendered(photo));
    });
  };
  if (options.output.empty()) {
    write(output::print);
  } else {
    write_file(options.output, options.force, [&](const std::function<void(Bytes)>& append) {
      write([&](const std::string& text) { append(std::as_bytes(std::span(text))); });
    });
  }
  return report_failures(parts, failures, options.name_failures) > 0 ? 1 : 0;
}

/// The data set again, for pictures of mistakes.
/// \throws UsageError when it is not what the answers are to
datasets::LabelledImages open_same_data(const EvaluationDetails& details) {
  datasets::LabelledImages images = open_data(details.subject.data);
  const Answers& answers = details.answers;
  for (std::size_t i = 0; i < answers.samples.size(); ++i) {
    const std::size_t sample = answers.samples[i];
    if (sample < images.samples.size() && images.samples[sample].path == answers.paths[i]) continue;
    throw UsageError(fmt::format("{} has changed since the shards ran: {} is not at its place",
                                 printable(details.subject.data), printable(answers.paths[i])));
  }
  return images;
}

int merge_evaluated(const Parts& parts, const MergeOptions& options, output::Format format) {
  EvaluationDetails details = evaluation_details(parts.header().details, parts.path());
  std::vector<std::string> failures;
  parts.for_each([&](const Json& photo) {
    if (!failed(photo)) return add_answer(photo, details.answers);
    failures.push_back(InputError(bytes_of(photo.at("path")), bytes_of(photo.at("error"))).what());
  });
  details.subject.failed = report_failures(parts, failures, options.name_failures);
  if (details.answers.paths.empty()) throw UsageError("no photo could be evaluated");
  const Evaluation evaluation = evaluate(details.answers, details.options);
  const EvaluationResult result{details.subject, details.answers, evaluation};
  if (!options.output.empty()) {
    const datasets::LabelledImages images = open_same_data(details);
    prepare_evaluation_folder(options.output, options.force);
    write_evaluation(options.output, result, images, details.decode, options.force, options.quiet);
  }
  output::print(render(result, format));
  return details.subject.failed > 0 ? 1 : 0;
}

}  // namespace

int merge(const Parts& parts, const MergeOptions& options) {
  const PartHeader& header = parts.header();
  try {
    const std::string format =
        options.format.empty() ? header.details.at(kFormatKey).get<std::string>() : options.format;
    const output::Format wanted = output::parse_format(format);
    if (header.command == "classify") return merge_classified(parts, options, wanted);
    if (header.command == "evaluate") return merge_evaluated(parts, options, wanted);
  } catch (const Json::exception&) {
    throw InputError(parts.path(), "its header is none that this program writes");
  }
  throw InputError(parts.path(), fmt::format("is of {}, expected of classify or evaluate",
                                             in_quotes(header.command)));
}

}  // namespace vitascope::app
