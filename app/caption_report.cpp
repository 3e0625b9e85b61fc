#include "app/caption_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/output.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

using Json = nlohmann::ordered_json;
using metrics::CaptionScores;

Json scores_json(const CaptionScores& scores) {
  return {{"bleu", metrics::bleu(scores.counts)},
          {"bleu_unsmoothed", metrics::bleu_unsmoothed(scores.counts)},
          {"rouge_l", scores.rouge_l},
          {"cider_d", scores.cider_d ? Json(*scores.cider_d) : Json()},
          {"exact", scores.exact},
          {"matches", scores.counts.matches},
          {"totals", scores.counts.totals},
          {"candidate_length", scores.counts.candidate_length},
          {"reference_length", scores.counts.reference_length}};
}

std::string scores_csv(const char* scope, const std::string& id, const CaptionScores& scores) {
  std::string line = fmt::format("{},{}", scope, output::csv_field(id));
  for (const double figure : metrics::bleu(scores.counts)) line += fmt::format(",{:.6g}", figure);
  for (const double figure : metrics::bleu_unsmoothed(scores.counts))
    line += fmt::format(",{:.6g}", figure);
  line += fmt::format(",{:.6g},", scores.rouge_l);
  if (scores.cider_d) line += fmt::format("{:.6g}", *scores.cider_d);
  return line + fmt::format(",{:.6g},{},{}\n", scores.exact, scores.counts.candidate_length,
                            scores.counts.reference_length);
}

std::string cider_text(const CaptionSubject& subject, const CaptionScores& corpus) {
  if (!corpus.cider_d)
    return fmt::format(
        "  CIDEr-D        -   means nothing with document frequencies of {} photos, "
        "below {}; --frequencies takes those of a larger set\n",
        subject.frequency_photos, metrics::kLeastCiderImages);
  return fmt::format("  CIDEr-D   {:.4f}   document frequencies of {} photos{}\n", *corpus.cider_d,
                     subject.frequency_photos,
                     subject.frequencies.empty() ? "" : " of " + printable(subject.frequencies));
}

}  // namespace

std::string caption_report_text(const CaptionSubject& subject,
                                const metrics::CaptionReport& report) {
  const CaptionScores& corpus = report.corpus;
  std::string text =
      fmt::format("{} against {} ({})\n{} photos, {} references; words by {}: {}\n\n",
                  printable(subject.results), printable(subject.references),
                  printable(subject.source), subject.ids.size(), subject.reference_captions,
                  metrics::kTokenisation, metrics::kTokenisationRule);
  const metrics::Bleu smoothed = metrics::bleu(corpus.counts);
  for (std::size_t n = 0; n < smoothed.size(); ++n)
    text += fmt::format("  BLEU-{}    {:.4f}\n", n + 1, smoothed[n]);
  text += fmt::format("  ROUGE-L   {:.4f}\n", corpus.rouge_l);
  text += cider_text(subject, corpus);
  text += fmt::format("  exact     {:.4f}   of the captions are a reference word for word\n",
                      corpus.exact);
  return text + fmt::format("  words     {} in captions, {} in the references nearest in length\n",
                            corpus.counts.candidate_length, corpus.counts.reference_length);
}

std::string caption_report_json(const CaptionSubject& subject,
                                const metrics::CaptionReport& report) {
  Json object{{"results", subject.results},
              {"references", subject.references},
              {"source", subject.source},
              {"photos", subject.ids.size()},
              {"reference_captions", subject.reference_captions},
              {"without_references", subject.without_references},
              {"without_caption", subject.without_caption},
              {"tokenisation", metrics::kTokenisation},
              {"tokenisation_rule", metrics::kTokenisationRule},
              {"frequencies",
               {{"file", subject.frequencies.empty() ? subject.references : subject.frequencies},
                {"photos", subject.frequency_photos}}}};
  object.update(scores_json(report.corpus));
  Json images = Json::array();
  for (std::size_t i = 0; i < report.images.size(); ++i) {
    Json image{{"id", subject.ids[i]}};
    image.update(scores_json(report.images[i]));
    images.push_back(std::move(image));
  }
  object["images"] = std::move(images);
  return output::json_line(object);
}

std::string caption_report_csv(const CaptionSubject& subject,
                               const metrics::CaptionReport& report) {
  std::string text =
      "scope,id,bleu_1,bleu_2,bleu_3,bleu_4,bleu_1_unsmoothed,bleu_2_unsmoothed,"
      "bleu_3_unsmoothed,bleu_4_unsmoothed,rouge_l,cider_d,exact,candidate_length,reference_"
      "length\n";
  text += scores_csv("all", "", report.corpus);
  for (std::size_t i = 0; i < report.images.size(); ++i)
    text += scores_csv("photo", subject.ids[i], report.images[i]);
  return text;
}

}  // namespace vitascope::app
