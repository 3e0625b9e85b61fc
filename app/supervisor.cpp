#include "app/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/output.h"
#include "vit/error.h"
#include "vit/train/process_store.h"

namespace vitascope::app {
namespace {

constexpr int kInterrupted = 130;
constexpr timespec kPause{0, 50'000'000};  // ns, between two looks at the store

/// The words of this process's command line.
std::vector<std::string> command_line() {
  const int file = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(file, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(file);
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size(); at += words.back().size() + 1) {
    words.emplace_back(text.c_str() + at);
  }
  return words;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// The environment of process `rank`, as torchrun sets it.
std::vector<std::string> environment_of(int rank, int processes, std::uint16_t port) {
  const std::string all = std::to_string(processes);
  std::map<std::string, std::string> ours{{"RANK", std::to_string(rank)},
                                          {"LOCAL_RANK", std::to_string(rank)},
                                          {"WORLD_SIZE", all},
                                          {"LOCAL_WORLD_SIZE", all},
                                          {"MASTER_ADDR", "127.0.0.1"},
                                          {"MASTER_PORT", std::to_string(port)},
                                          {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                          {"TORCHELASTIC_RESTART_COUNT", "0"},
                                          {"VITASCOPE_SUPERVISED", "1"}};
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!ours.contains(text.substr(0, text.find('=')))) result.push_back(text);
  }
  for (const auto& [name, value] : ours) result.push_back(fmt::format("{}={}", name, value));
  return result;
}

sigset_t signals_of_interest() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD}) sigaddset(&signals, signal);
  return signals;
}

/// The processes that run.
class Family {
 public:
  explicit Family(int processes)
      : signals_(signals_of_interest()), processes_(processes), children_(0) {
    // Before the store has threads: they must not take these signals either.
    sigprocmask(SIG_BLOCK, &signals_, &before_);
    store_.emplace(train::StorePlace{.serve = true, .keeper = "the supervisor"});
  }
  ~Family() {
    end_all();
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  int run() {
    start(0);
    while (!running_.empty()) {
      pass_on(sigtimedwait(&signals_, nullptr, &kPause));
      if (children_ == 1 && store_->has("vitascope/0/place/0")) {
        for (int rank = 1; rank < processes_; ++rank) start(rank);
      }
      reap();
    }
    return failure_.value_or(status_);
  }

 private:
  void start(int rank) {
    std::vector<std::string> words = command_line();
    std::vector<std::string> variables = environment_of(rank, processes_, store_->port());
    const std::vector<char*> arguments = pointers_to(words);
    const std::vector<char*> environment = pointers_to(variables);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) {
      throw FailureError(
          fmt::format("process {} can't be started: {}", rank, std::strerror(errno)));
    }
    if (pid == 0) {
      // Ctrl-C reaches the supervisor alone, which passes it on: twice would end at once.
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(kInterrupted);
      sigprocmask(SIG_SETMASK, &before_, nullptr);
      ::execve("/proc/self/exe", arguments.data(), environment.data());
      ::_exit(127);
    }
    running_.emplace(pid, rank);
    ++children_;
  }

  void pass_on(int signal) {
    if (signal != SIGINT && signal != SIGTERM && signal != SIGUSR1) return;
    for (const auto& [pid, rank] : running_) ::kill(pid, signal);
  }

  void reap() {
    int state = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &state, WNOHANG)) > 0;) {
      const auto found = running_.find(pid);
      if (found == running_.end()) continue;
      const int rank = found->second;
      running_.erase(found);
      const int status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
      if (rank == 0) status_ = status;
      if (status == 0 || (WIFEXITED(state) && status == kInterrupted) || failure_) continue;
      failure_ = status;
      if (WIFSIGNALED(state)) {
        output::error(fmt::format("process {} of {} (pid {}) was ended by signal {} ({})", rank,
                                  processes_, pid, WTERMSIG(state), strsignal(WTERMSIG(state))));
      }
      end_all();
    }
  }

  void end_all() {
    for (const auto& [pid, rank] : running_) ::kill(pid, SIGKILL);
  }

  sigset_t signals_;
  sigset_t before_{};
  int processes_;
  int children_;
  std::optional<train::ProcessStore> store_;
  std::map<pid_t, int> running_;  ///< rank by process number
  int status_ = 0;
  std::optional<int> failure_;
};

}  // namespace

int supervise(int processes) { return Family(processes).run(); }

}  // namespace vitascope::app
