#include "app/caption_audit.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/named_objects.h"
#include "vit/error.h"
#include "vit/explain/map.h"
#include "vit/explain/pointing.h"
#include "vit/explain/statistics.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

using explain::Figures;

/// The part of a word's weights that lies on an object; nothing when it looked nowhere.
/// \param weights [L] \param parts [L], of each cell the part inside
std::optional<double> part_inside(const at::Tensor& weights, const at::Tensor& parts) {
  const at::Tensor exact = weights.to(at::kDouble);
  const auto total = exact.sum().item<double>();
  if (total <= 0) return std::nullopt;
  return (exact * parts).sum().item<double>() / total;
}

/// Whether one of the boxes is at least as wide and as high as a cell, as far as it is seen.
bool fills_a_cell(const std::vector<image::Rectangle>& boxes, const PhotoCaptions& photo) {
  const image::Rectangle cell = photo.view.cell(0, 0, photo.rows, photo.columns);
  const image::Rectangle seen = photo.view.seen();
  return std::ranges::any_of(boxes, [&](const image::Rectangle& box) {
    const double width = std::min(box.right, seen.right) - std::max(box.left, seen.left);
    const double height = std::min(box.bottom, seen.bottom) - std::max(box.top, seen.top);
    return width >= cell.right - cell.left && height >= cell.bottom - cell.top;
  });
}

/// The mean over words of how evenly they looked; nothing when they all looked nowhere.
/// \param weights [T, L]
std::optional<double> mean_entropy(const at::Tensor& weights) {
  std::vector<double> entropies;
  for (const at::Tensor& word : weights.unbind(0)) {
    const auto entropy = explain::normalised_entropy(explain::numbers<double>(word));
    if (entropy) entropies.push_back(*entropy);
  }
  if (entropies.empty()) return std::nullopt;
  return explain::mean(entropies);
}

/// Of a figure that each has.
template <typename One>
double mean_of(const std::vector<One>& all, double One::*figure) {
  double sum = 0;
  for (const One& one : all) sum += one.*figure;
  return sum / static_cast<double>(all.size());
}

Figures figures_of(double own_log_prob, double log_prob, double words_differ) {
  Figures figures;
  figures["log_prob"].value = log_prob;
  figures["cost"].value = own_log_prob - log_prob;
  figures["words_differ"].value = words_differ;
  return figures;
}

std::string sentence(const caption::Hypothesis& found, const caption::Vocabulary& vocabulary) {
  return fmt::format("{}", fmt::join(vocabulary.decode(found.tokens), " "));
}

}  // namespace

const std::vector<explain::FigureKind>& caption_figure_kinds() {
  using explain::Better;
  static const std::vector<explain::FigureKind> kinds{
      {"log_prob", "log-prob a word", "of the caption, the mean over words, <end> counted"},
      {"cost", "lost of it", "by how much that is less than with its own attention"},
      {"words_differ", "other words",
       "the share of words that the caption found then has differently (word edit distance)"},
      {"entropy", "spread", "entropy of attention as a part of even attention's: 1, all alike"},
      {"inside", "on the object",
       "the part of a noun's attention on what it names; even attention's is the object's area"}};
  return kinds;
}

CaptionAuditor::CaptionAuditor(const caption::Captioner& captioner,
                               const CaptionAuditOptions& options,
                               const caption::BeamOptions& search, std::uint64_t seed)
    : captioner_(captioner), options_(options), search_(search), seed_(seed) {
  search_.results = 1;
  if (!options.masks.empty()) objects_ = datasets::read_coco_instances(options.masks);
}

CaptionAudit CaptionAuditor::audit(const AuditedCaption& caption) const {
  const caption::SentenceAudit found = caption::audit_sentence(
      captioner_.decoder, caption.annotations, caption.best, search_,
      {.permutations = options_.permutations, .seed = combined_seed({seed_, caption.number})});
  CaptionAudit audit;
  audit.figures.own["log_prob"].value = found.log_prob;
  if (const auto entropy = mean_entropy(caption.best.weights)) {
    audit.figures.own["entropy"].value = *entropy;
  }
  audit.figures.permuted =
      figures_of(found.log_prob, mean_of(found.permuted, &caption::ChangedSentence::log_prob),
                 mean_of(found.permuted, &caption::ChangedSentence::words_differ));
  audit.figures.uniform =
      figures_of(found.log_prob, found.uniform.log_prob, found.uniform.words_differ);
  for (const caption::ChangedSentence& one : found.permuted) {
    audit.permuted_sentences.push_back(sentence(one.sentence, captioner_.vocabulary));
  }
  audit.uniform_sentence = sentence(found.uniform.sentence, captioner_.vocabulary);
  if (objects_) look_at_objects(caption, found, audit);
  return audit;
}

void CaptionAuditor::look_at_objects(const AuditedCaption& caption,
                                     const caption::SentenceAudit& found,
                                     CaptionAudit& audit) const {
  const PhotoCaptions& photo = caption.photo;
  if (objects_->find(photo.path) == nullptr) {
    throw InputError(photo.path,
                     fmt::format("is none of the images of {}", printable(options_.masks)));
  }
  std::vector<std::string> words;
  for (const CaptionWord& word : photo.captions.front().words) words.push_back(word.text);
  audit.figures.masks = true;
  for (NamedObject& named : named_objects(words, objects_->categories(photo.path))) {
    const datasets::MaskChoice choice{.category = named.category};
    if (!fills_a_cell(objects_->boxes(photo.path, photo.size, choice), photo)) {
      ++audit.figures.narrow;
      continue;
    }
    const at::Tensor parts = explain::covered_parts(objects_->mask(photo.path, photo.size, choice),
                                                    photo.view, photo.rows, photo.columns)
                                 .flatten();
    const auto word = static_cast<std::int64_t>(named.word);
    const auto own = part_inside(caption.best.weights[word], parts);
    if (!own) continue;
    std::vector<double> permuted;
    for (const caption::ChangedSentence& one : found.permuted) {
      if (const auto part = part_inside(one.weights[word], parts)) permuted.push_back(*part);
    }
    if (permuted.empty()) continue;
    audit.nouns.push_back({.word = words[named.word],
                           .position = named.word,
                           .category = std::move(named.category),
                           .own = *own,
                           .permuted = explain::mean(permuted),
                           .uniform = parts.mean().item<double>()});
  }
  audit.figures.nouns = std::ssize(audit.nouns);
  if (audit.nouns.empty()) return;
  audit.figures.own["inside"].value = mean_of(audit.nouns, &AuditedNoun::own);
  audit.figures.permuted["inside"].value = mean_of(audit.nouns, &AuditedNoun::permuted);
  audit.figures.uniform["inside"].value = mean_of(audit.nouns, &AuditedNoun::uniform);
}

CaptionAuditFigures mean_caption_audit(const std::vector<CaptionAuditFigures>& photos) {
  CaptionAuditFigures all;
  all.photos = std::ssize(photos);
  std::vector<Figures> own, permuted, uniform;
  for (const CaptionAuditFigures& photo : photos) {
    own.push_back(photo.own);
    permuted.push_back(photo.permuted);
    uniform.push_back(photo.uniform);
    all.masks = all.masks || photo.masks;
    all.nouns += photo.nouns;
    all.narrow += photo.narrow;
  }
  all.own = explain::mean_figures(own);
  all.permuted = explain::mean_figures(permuted);
  all.uniform = explain::mean_figures(uniform);
  return all;
}

}  // namespace vitascope::app
