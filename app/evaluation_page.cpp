#include "app/evaluation_page.h"

#include <fmt/format.h>

#include "app/report/packed_maps.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

constexpr const char* kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .15rem .8rem; text-align: right; border-bottom: 1px solid #8886; }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }
img { max-width: 100%; height: auto; }
</style>
)";

/// Text of a file as text of the page.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe.push_back(c);
    }
  }
  return safe;
}

std::string figures(const EvaluationResult& result) {
  std::string text = fmt::format("<table>\n<tr><th>figure<th>value<th>{:.4g}% interval\n",
                                 result.subject.bootstrap.level * 100);
  for (const Figure& figure : result.evaluation.figures) {
    text += fmt::format("<tr><td>{}<td>{:.4f}<td>", escaped(figure.title), figure.value);
    if (figure.interval)
      text += fmt::format("{:.4f} to {:.4f}", figure.interval->low, figure.interval->high);
    text += "\n";
  }
  return text + "</table>\n";
}

std::string classes(const EvaluationResult& result) {
  const bool multi = result.answers.multi_label;
  std::string text =
      fmt::format("<table>\n<tr><th>class<th>photos<th>precision<th>recall<th>F1{}\n",
                  multi ? "<th>average precision" : "");
  for (const ClassFigures& one : result.evaluation.classes) {
    const metrics::Rates rates = metrics::rates_of(one.counts);
    text += fmt::format("<tr><td>{}<td>{}<td>{:.4f}<td>{:.4f}<td>{:.4f}",
                        escaped(result.answers.label(one.index)), one.counts.support,
                        rates.precision, rates.recall, rates.f1);
    if (one.average_precision) text += fmt::format("<td>{:.4f}", *one.average_precision);
    text += "\n";
  }
  return text + "</table>\n";
}

std::string comparison(const Comparison& found) {
  return fmt::format(
      "<p>Compared with {} on {} photos: top-1 accuracy {:.4f}, there {:.4f}. Right here only {}, "
      "right there only {}; McNemar's exact test: p = {:.4g}.</p>\n",
      escaped(found.model), found.photos, found.first_top1, found.second_top1,
      found.split.first_only, found.split.second_only, found.exact);
}

}  // namespace

std::string evaluation_page(const EvaluationResult& result, const EvaluationPictures& pictures) {
  const std::string model = escaped(result.answers.model);
  const std::string data = escaped(result.subject.data);
  std::string page = kHead;
  page +=
      fmt::format("<title>{} on {}</title>\n</head>\n<body>\n<h1>{}</h1>\n", model, data, model);
  page += fmt::format("<p>{} ({}): {}</p>\n", data, escaped(result.subject.source),
                      escaped(subject_text(result)));
  page += figures(result);
  if (result.evaluation.comparison) page += comparison(*result.evaluation.comparison);
  page += classes(result);
  for (const EvaluationPicture& picture : pictures) {
    page +=
        fmt::format(R"(<p><img alt="{}" width="{}" height="{}" src="data:image/{};base64,{}"></p>)",
                    escaped(picture.name), picture.size.width, picture.size.height,
                    picture.name.ends_with(".png") ? "png" : "jpeg", report::base64(picture.bytes));
    page += "\n";
  }
  return page + "</body>\n</html>\n";
}

}  // namespace vitascope::app
