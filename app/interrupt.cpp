#include "app/interrupt.h"

namespace vitascope::app {
namespace {

// A signal handler can reach nothing but variables of this kind.
volatile std::sig_atomic_t interrupted = 0;
volatile std::sig_atomic_t save_wanted = 0;

extern "C" void note_interrupt(int) { interrupted = 1; }
extern "C" void note_save(int) { save_wanted = 1; }

struct sigaction action_of(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART | flags;
  return action;
}

}  // namespace

Interrupt::Interrupt(const std::vector<int>& signals) {
  interrupted = 0;
  // The next signal of the kind has its default effect.
  const struct sigaction action = action_of(note_interrupt, SA_RESETHAND);
  previous_.reserve(signals.size());
  for (const int signal : signals) {
    struct sigaction before {};
    sigaction(signal, &action, &before);
    previous_.emplace_back(signal, before);
  }
}

Interrupt::~Interrupt() {
  for (const auto& [signal, previous] : previous_) sigaction(signal, &previous, nullptr);
}

bool Interrupt::requested() const { return interrupted != 0; }

SaveSignal::SaveSignal() {
  save_wanted = 0;
  const struct sigaction action = action_of(note_save, 0);
  sigaction(SIGUSR1, &action, &previous_);
}

SaveSignal::~SaveSignal() { sigaction(SIGUSR1, &previous_, nullptr); }

bool SaveSignal::take() {
  const bool wanted = save_wanted != 0;
  save_wanted = 0;
  return wanted;
}

}  // namespace vitascope::app
