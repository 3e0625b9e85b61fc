#include "app/caption_audit_options.h"

#include <fmt/format.h>

#include "app/caption_audit.h"
#include "app/values.h"

namespace vitascope::app {

void add_caption_audit_options(CLI::App& command, CaptionAuditOptions& options) {
  const std::string group = "Audit";
  command
      .add_flag("--audit", options.audit,
                "measure whether the best caption depends on where its words looked")
      ->group(group);
  command
      .add_option(
          "--masks", options.masks,
          "where the objects are: COCO's instances.json, or that of make-scenes; photos are "
          "found in it by name")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--permutations", options.permutations,
                  "of the attention weights over the cells, of which the mean is taken")
      ->type_name("N")
      ->check(whole_number(1, 1000))
      ->group(group);
}

std::string caption_audit_help() {
  std::string text =
      R"(--audit asks again with other attention: weights permuted over the cells, at all words alike, and even
ones. How likely is the sentence then, and which one does the same search find? With --masks: of what
the nouns looked at that name an object of the photo (by its category, in singular or plural), how much
lies on it? A cell at an object's border counts by the part of its area that is inside. Nouns whose
objects are all narrower or lower than a cell are left out, and counted.
JSON has "audit" in the photo's line: permutations, own, permuted and uniform (numbers by the keys
below), sentences {permuted [one a permutation], uniform}, nouns [{word, position, category, own,
permuted, uniform}], narrow (nouns that were left out), verdict; after several photos
{"population"} with means over photos, each {mean, low, high, photos}, 95% by the bootstrap.
)";
  for (const explain::FigureKind& kind : caption_figure_kinds()) {
    text += fmt::format("  {:<13} {}\n", kind.key, kind.meaning);
  }
  return text;
}

}  // namespace vitascope::app
