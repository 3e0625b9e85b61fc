#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/golden_logits.h"
#include "tests/cli/run_program.h"

namespace vitascope::tests {
namespace {

/// A list of photos that takes far longer than a test wants to wait.
std::string long_list(std::size_t count) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i) list += golden("images/rgb.png") + "\n";
  return list;
}

TEST(Interrupt, TheFirstEndsTheRunAfterTheBatchInHandAndKeepsWhatIsDone) {
  const TemporaryFolder folder;
  const std::string saved = folder / "saved.safetensors";
  constexpr std::size_t kPhotos = 100000;
  bool sent = false;
  Invocation invocation;
  invocation.arguments = {"classify",
                          "-",
                          "--quiet",
                          "--format",
                          "json",
                          "--batch-size",
                          "4",
                          "--save",
                          saved,
                          "--model",
                          golden("models/hf-vit")};
  invocation.input = long_list(kPhotos);
  invocation.watch = [&](pid_t pid, const Finished& so_far) {
    if (sent || so_far.out.empty()) return;
    sent = true;
    kill(pid, SIGINT);
  };
  const Finished finished = run_program(invocation);
  EXPECT_EQ(finished.status, 130) << finished.err;
  std::size_t lines = 0;
  std::istringstream stream(finished.out);
  for (std::string line; std::getline(stream, line); ++lines) {
    EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  }
  EXPECT_GE(lines, 4u);
  EXPECT_LT(lines, kPhotos);
  EXPECT_EQ(lines % 4, 0u) << "a batch was cut";
  const Values logits = values_of(weights::read_safetensors(saved), "logits");
  EXPECT_EQ(logits.shape[0], static_cast<std::int64_t>(lines));
}

TEST(Interrupt, AClosedPipeEndsTheRunQuietly) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  close(ends[0]);
  const pid_t pid = fork();
  if (pid == 0) {
    // The parent of many programs ignores SIGPIPE, and the program inherits that.
    std::signal(SIGPIPE, SIG_IGN);
    dup2(ends[1], STDOUT_FILENO);
    int errors = open("/dev/null", O_WRONLY);
    dup2(errors, STDERR_FILENO);
    execl(VITASCOPE_PROGRAM, VITASCOPE_PROGRAM, "--help", nullptr);
    _exit(127);
  }
  close(ends[1]);
  int status = 0;
  waitpid(pid, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGPIPE);
}

}  // namespace
}  // namespace vitascope::tests
