#include "app/audit_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/values.h"
#include "vit/error.h"
#include "vit/explain/audit_figures.h"

namespace vitascope::app {

void add_audit_options(CLI::App& command, AuditChoice& choice) {
  const std::string group = "Audit";
  command.add_flag("--audit", choice.audit, "measure how far the maps may be believed")
      ->group(group);
  command
      .add_option("--data", choice.data,
                  "audit all photos of a folder, folders inside it too, and print only what they "
                  "show together")
      ->type_name("FOLDER")
      ->group(group);
  command
      .add_option("--audit-parts", choice.parts,
                  "faithfulness: does the answer rest on what a map marks? weights: does it depend "
                  "on the attention? model: does the map depend on what was learned? none: only "
                  "what --masks gives")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->check(one_of({"faithfulness", "weights", "model", "none"}))
      ->group(group);
  command.add_option("--fill", choice.fill, "what stands where a patch was taken away")
      ->type_name("mean|zero|blur")
      ->check(one_of({"mean", "zero", "blur"}))
      ->group(group);
  command.add_option("--curve-steps", choice.steps, "of a deletion curve; 0: every patch")
      ->type_name("N")
      ->check(whole_number(0, 100'000))
      ->group(group);
  command.add_option("--random-maps", choice.random_maps, "that each map is compared with")
      ->type_name("N")
      ->check(whole_number(0, 100))
      ->group(group);
  command
      .add_option("--masks", choice.masks,
                  "where the objects are: COCO's instances.json; photos are found in it by name")
      ->type_name("FILE")
      ->group(group);
  command.add_option("--mask-category", choice.mask_category, "objects of this kind only")
      ->type_name("NAME")
      ->group(group);
  command
      .add_option("--other-models", choice.models,
                  "checkpoints of the same kind, for example of other seeds: do their maps agree?")
      ->type_name("MODEL,...")
      ->delimiter(',')
      ->group(group);
}

std::string audit_keys_help() {
  std::string text = "Numbers of --audit, by their keys in JSON:\n";
  for (const auto* kinds : {&explain::map_figure_kinds(), &explain::weight_figure_kinds()}) {
    for (const explain::FigureKind& kind : *kinds) {
      text += fmt::format("  {:<21} {}\n", kind.key, kind.meaning);
    }
  }
  return text;
}

void check_audit(const AuditChoice& choice) {
  const std::pair<const char*, bool> given[] = {{"--data", !choice.data.empty()},
                                                {"--masks", !choice.masks.empty()},
                                                {"--other-models", !choice.models.empty()}};
  for (const auto& [flag, there] : given) {
    if (there && !choice.audit) {
      throw UsageError(std::string(flag) + " says what an audit looks at; add --audit");
    }
  }
  if (!choice.mask_category.empty() && choice.masks.empty()) {
    throw UsageError("--mask-category chooses among the objects of --masks FILE, which is missing");
  }
}

explain::AuditOptions audit_options(const AuditChoice& choice, std::uint64_t seed) {
  const auto asked = [&](const char* part) {
    return std::ranges::find(choice.parts, part) != choice.parts.end();
  };
  explain::AuditOptions options;
  options.parts = {asked("faithfulness"), asked("weights"), asked("model")};
  options.fill = choice.fill == "zero"   ? explain::Fill::zero
                 : choice.fill == "blur" ? explain::Fill::blur
                                         : explain::Fill::mean;
  options.steps = choice.steps;
  options.random_maps = choice.random_maps;
  options.seed = seed;
  return options;
}

}  // namespace vitascope::app
