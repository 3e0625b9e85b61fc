#include "app/caption_audit_result.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/figures_text.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

using explain::find_figure;
using Json = nlohmann::ordered_json;

/// From this share of other words, or this much log-probability lost, the sentence is said to have
/// moved; from so much more on the object than its area holds, the words are said to look at it.
constexpr double kMoved = 0.1;
/// From this part of even attention's entropy on, it is said not to choose; the trainer warns there
/// too.
constexpr double kEven = 0.99;

std::string subject(const CaptionAuditFigures& audit) {
  return audit.photos == 1 ? "For this photo" : fmt::format("Over {} photos", audit.photos);
}

std::string sentence_of_permutations(const CaptionAuditFigures& audit) {
  const auto differ = find_figure(audit.permuted, "words_differ");
  const auto cost = find_figure(audit.permuted, "cost");
  if (!differ || !cost) return "";
  std::string text = fmt::format(
      "{} permuted attention takes {} of log-probability from a word and changes {} of the words",
      subject(audit), with_interval(*cost), with_interval(*differ));
  if (const auto even = find_figure(audit.uniform, "words_differ")) {
    text += fmt::format(", even attention {}", with_interval(*even));
  }
  if (differ->value >= kMoved) return text + ": the sentence depends on where its words looked.";
  return text + (cost->value >= kMoved
                     ? ": where its words looked makes the sentence likelier, hardly another one."
                     : ": the sentence hardly depends on where its words looked.");
}

std::string entropy_sentence(const CaptionAuditFigures& audit) {
  const auto entropy = find_figure(audit.own, "entropy");
  if (!entropy || entropy->value < kEven) return "";
  return "Its attention is nearly even: it does not choose where to look.";
}

std::string narrow_text(const CaptionAuditFigures& audit) {
  if (audit.narrow == 0) return "";
  return fmt::format(" ({} left out: what {} is narrower or lower than a cell)", audit.narrow,
                     audit.narrow == 1 ? "it names" : "they name");
}

std::string objects_sentence(const CaptionAuditFigures& audit) {
  if (!audit.masks) return "";
  const auto own = find_figure(audit.own, "inside");
  const auto permuted = find_figure(audit.permuted, "inside");
  const auto area = find_figure(audit.uniform, "inside");
  if (!own || !permuted || !area) {
    return fmt::format("No noun names an object that is known{}.", narrow_text(audit));
  }
  return fmt::format(
      "{} noun{}{} had {} of the attention on the object, which has {} of the area; permuted, {} "
      "falls there: {}.",
      audit.nouns, audit.nouns == 1 ? "" : "s", narrow_text(audit), with_interval(*own),
      with_interval(*area), with_interval(*permuted),
      own->value - area->value >= kMoved ? "words look at what they name"
                                         : "words hardly look at what they name");
}

/// What one photo and many have alike; `numbers` makes JSON of figures.
template <typename Numbers>
Json three_kinds(const CaptionAuditFigures& audit, const Numbers& numbers) {
  return {{"own", numbers(audit.own)},
          {"permuted", numbers(audit.permuted)},
          {"uniform", numbers(audit.uniform)}};
}

}  // namespace

std::vector<std::string> verdict(const CaptionAuditFigures& audit) {
  std::vector<std::string> sentences;
  for (std::string& sentence : std::vector{sentence_of_permutations(audit), entropy_sentence(audit),
                                           objects_sentence(audit)}) {
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  }
  return sentences;
}

std::string audit_text(const CaptionAuditFigures& audit) {
  std::string text =
      figure_table(caption_figure_kinds(),
                   {{"own", &audit.own}, {"permuted", &audit.permuted}, {"even", &audit.uniform}});
  for (const std::string& sentence : verdict(audit)) text += "  " + sentence + "\n";
  return text;
}

nlohmann::ordered_json audit_json(const CaptionAudit& audit) {
  Json json{{"permutations", audit.permuted_sentences.size()}};
  json.update(three_kinds(audit.figures, figures_json));
  json["sentences"] = {{"permuted", audit.permuted_sentences}, {"uniform", audit.uniform_sentence}};
  if (audit.figures.masks) {
    Json nouns = Json::array();
    for (const AuditedNoun& noun : audit.nouns) {
      nouns.push_back({{"word", noun.word},
                       {"position", noun.position},
                       {"category", noun.category},
                       {"own", noun.own},
                       {"permuted", noun.permuted},
                       {"uniform", noun.uniform}});
    }
    json["nouns"] = std::move(nouns);
    json["narrow"] = audit.figures.narrow;
  }
  json["verdict"] = verdict(audit.figures);
  return json;
}

nlohmann::ordered_json audit_json(const CaptionAuditFigures& audit) {
  Json json{{"photos", audit.photos}};
  json.update(three_kinds(audit, mean_figures_json));
  if (audit.masks) {
    json["nouns"] = audit.nouns;
    json["narrow"] = audit.narrow;
  }
  json["verdict"] = verdict(audit);
  return json;
}

}  // namespace vitascope::app
