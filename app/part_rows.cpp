#include "app/part_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <utility>

#include "vit/error.h"

namespace vitascope::app {
namespace {

/// Numbers with spaces between them: half the length of a JSON list, whose numbers are doubles.
/// Every float comes back as it was.
std::string numbers_text(std::span<const double> numbers) {
  std::string text;
  text.reserve(numbers.size() * 12);
  for (const double number : numbers)
    fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : " ",
                   static_cast<float>(number));
  return text;
}

/// Appends the numbers of a text. \return how many there are; 0 where one is none
std::size_t append_numbers(const std::string& text, std::vector<double>& numbers) {
  const char* at = text.data();
  const char* end = at + text.size();
  std::size_t count = 0;
  while (at < end) {
    float number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc() || (stop < end && *stop != ' ')) return 0;
    numbers.push_back(number);
    ++count;
    at = stop + 1;
  }
  return count;
}

}  // namespace

Json texts_json(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(bytes_json(text));
  return list;
}

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  texts.reserve(list.size());
  for (const Json& text : list) texts.push_back(bytes_of(text));
  return texts;
}

Json classification_row(const output::Classification& result) {
  Json predictions = Json::array();
  for (const Prediction& one : result.predictions)
    predictions.push_back(Json::array({one.index, one.probability}));
  return {{"size", {result.size.width, result.size.height}},
          {"predictions", std::move(predictions)},
          {"milliseconds", {result.timing.decode, result.timing.prepare, result.timing.model}}};
}

output::Classification classification_of(const Json& row, const std::vector<std::string>& labels) {
  output::Classification result;
  result.path = bytes_of(row.at("path"));
  const Json& size = row.at("size");
  result.size = {size.at(0).get<int>(), size.at(1).get<int>()};
  for (const Json& one : row.at("predictions")) {
    const auto index = one.at(0).get<std::size_t>();
    if (index >= labels.size())
      throw InputError(result.path, "its classes in the part are not the model's");
    result.predictions.push_back({static_cast<int>(index), labels[index], one.at(1).get<double>()});
  }
  const Json& timing = row.at("milliseconds");
  result.timing = {timing.at(0).get<double>(), timing.at(1).get<double>(),
                   timing.at(2).get<double>()};
  return result;
}

Json answer_row(const Answers& one) {
  return {{"sample", one.samples.front()},
          {"truth", one.truth.front()},
          {"logits", numbers_text(one.logits)}};
}

void add_answer(const Json& row, Answers& answers) {
  const std::string path = bytes_of(row.at("path"));
  auto truth = row.at("truth").get<std::vector<std::int64_t>>();
  bool fits = !truth.empty() || answers.multi_label;
  for (const std::int64_t label : truth) fits = fits && label >= 0 && label < answers.classes();
  const std::size_t count = append_numbers(row.at("logits").get<std::string>(), answers.logits);
  if (!fits || count != answers.labels.size())
    throw InputError(path, "its answer in the part does not fit the model's classes");
  answers.samples.push_back(row.at("sample").get<std::size_t>());
  answers.paths.push_back(path);
  answers.truth.push_back(std::move(truth));
}

Json details_json(const EvaluationDetails& details) {
  const EvaluationOptions& options = details.options;
  return {{"model", bytes_json(details.answers.model)},
          {"labels", texts_json(details.answers.labels)},
          {"sigmoid", details.answers.sigmoid},
          {"multi_label", details.answers.multi_label},
          {"data", bytes_json(details.subject.data)},
          {"source", bytes_json(details.subject.source)},
          {"split", details.subject.split},
          {"confidence", options.bootstrap.level},
          {"resamples", options.bootstrap.resamples},
          {"seed", options.bootstrap.seed},
          {"bins", options.bins},
          {"threshold", options.threshold},
          {"fit_temperature", options.fit_temperature},
          {"mistakes", options.mistakes},
          {"max_pixels", details.decode.max_megapixels},
          {"allow_truncated", details.decode.allow_truncated}};
}

EvaluationDetails evaluation_details(const Json& json, const std::string& path) {
  constexpr int kMost = 2'147'483'647;
  const JsonObject object(json, path, "details.");
  EvaluationDetails details;
  Answers& answers = details.answers;
  answers.model = bytes_of(object.value("model"));
  answers.labels = texts_of(object.value("labels"));
  answers.sigmoid = object.boolean("sigmoid", false);
  answers.multi_label = object.boolean("multi_label", false);
  EvaluationOptions& options = details.options;
  options.bootstrap = {object.number("confidence"), object.integer("resamples", 0, 1'000'000),
                       static_cast<std::uint64_t>(object.integer("seed", 0, kMost))};
  options.bins = object.integer("bins", 1, 1000);
  options.threshold = object.number("threshold");
  options.fit_temperature = object.boolean("fit_temperature", false);
  options.mistakes = static_cast<std::size_t>(object.integer("mistakes", 0, 400));
  EvaluationSubject& subject = details.subject;
  subject.data = bytes_of(object.value("data"));
  subject.source = bytes_of(object.value("source"));
  subject.split = object.text("split");
  subject.bootstrap = options.bootstrap;
  details.decode.max_megapixels = object.number("max_pixels");
  details.decode.allow_truncated = object.boolean("allow_truncated", false);
  return details;
}

}  // namespace vitascope::app
