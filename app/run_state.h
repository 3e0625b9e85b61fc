#pragma once

#include <csignal>
#include <optional>
#include <string>

#include "app/interrupt.h"
#include "app/run_folder.h"
#include "datasets/training_loader.h"
#include "vit/train/trainer.h"

/// \file
/// What a run of training, whatever it trains, keeps in its checkpoints beside the trainer's state,
/// and when it saves or stops.
namespace vitascope::app {

/// What two processes that train one run after each other must have in common.
struct RunIdentity {
  std::string names;   ///< classes, or words
  std::string data;    ///< a fingerprint
  std::string recipe;  ///< \see fixed_recipe
  /// In messages: what the names are ("classes"), and what photos come with ("labels").
  const char* names_are = "classes";
  const char* photos_have = "labels";
};

/// Adds it to a checkpoint, with the place among the samples.
void complete_checkpoint(train::Checkpoint& checkpoint, const RunIdentity& identity,
                         const datasets::LoaderState& place);

/// The checkpoint to go on from, where `resume` asks for it and the run has one. Notes on stderr
/// that it has none, unless `quiet`.
/// \throws UsageError when it is damaged, or of another run: says what differs
std::optional<train::Checkpoint> resumed_checkpoint(const RunFolder& folder,
                                                    const RunIdentity& identity, bool resume,
                                                    bool quiet);

/// The place among the samples that complete_checkpoint added.
datasets::LoaderState place_of(const train::Checkpoint& checkpoint);

/// Says where a restored trainer goes on.
void note_resumed(const train::Trainer& trainer);

/// While it lives, SIGINT and SIGTERM ask to stop and SIGUSR1 to save. One at a time.
class TrainingSignals {
 public:
  bool stop_requested() const { return interrupt_.requested(); }
  train::Request request();

 private:
  Interrupt interrupt_{{SIGINT, SIGTERM}};
  SaveSignal save_;
};

}  // namespace vitascope::app
