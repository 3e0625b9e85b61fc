#include "app/run_state.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/fixed_recipe.h"
#include "app/output.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {

void complete_checkpoint(train::Checkpoint& checkpoint, const RunIdentity& identity,
                         const datasets::LoaderState& place) {
  checkpoint.texts["loader"] = nlohmann::json{{"name", place.name}}.dump();
  checkpoint.texts["loader position"] = place.bytes;
  checkpoint.texts["recipe"] = identity.recipe;
  checkpoint.texts["labels"] = identity.names;
  checkpoint.texts["data"] = identity.data;
  checkpoint.texts["program"] = VITASCOPE_VERSION;
}

std::optional<train::Checkpoint> resumed_checkpoint(const RunFolder& folder,
                                                    const RunIdentity& identity, bool resume,
                                                    bool quiet) {
  if (!resume) return std::nullopt;
  std::optional<train::Checkpoint> checkpoint = folder.checkpoint();
  if (!checkpoint) {
    if (!quiet) {
      output::note(printable(folder.path()) + " has no checkpoint yet: the run begins anew");
    }
    return std::nullopt;
  }
  if (checkpoint->text("labels") != identity.names) {
    throw UsageError(fmt::format("--resume: the {} of the data are not those that the run learned",
                                 identity.names_are));
  }
  if (checkpoint->text("data") != identity.data) {
    throw UsageError(
        fmt::format("--resume: the photos, their {} or their split are not those of the run: "
                    "expected the same data",
                    identity.photos_have));
  }
  require_same_recipe(checkpoint->text("recipe"), identity.recipe);
  return checkpoint;
}

datasets::LoaderState place_of(const train::Checkpoint& checkpoint) {
  return {nlohmann::json::parse(checkpoint.text("loader")).at("name"),
          checkpoint.text("loader position")};
}

void note_resumed(const train::Trainer& trainer) {
  output::note(
      fmt::format("goes on in epoch {} after step {}", trainer.epoch() + 1, trainer.step()));
}

train::Request TrainingSignals::request() {
  if (stop_requested()) return train::Request::stop;
  return save_.take() ? train::Request::save : train::Request::none;
}

}  // namespace vitascope::app
