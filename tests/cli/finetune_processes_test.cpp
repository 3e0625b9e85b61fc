#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/cli/run_program.h"
#include "tests/golden.h"

namespace vitascope::tests {
namespace {

using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr double kSameLoss = 1e-5;

/// 11 photos to learn from and 5 for validation: no number of processes divides them.
std::string table(const TemporaryFolder& folder) {
  const std::vector<std::string> photos{"rgb.png", "gray.jpg", "rgb_plain.jpg", "palette.png"};
  std::string text = "path,label,split\n";
  for (std::size_t i = 0; i < 16; ++i) {
    text += golden("images/" + photos[i % photos.size()]);
    text += i % 3 == 0 ? ",cup," : i % 3 == 1 ? ",cat," : ",dog,";
    text += i < 11 ? "train\n" : "val\n";
  }
  return folder.write("labels.csv", text);
}

std::vector<std::string> command(const std::string& data, const std::string& output,
                                 const std::vector<std::string>& more = {}) {
  std::vector<std::string> all{"finetune",
                               "--model",
                               golden("models/hf-vit"),
                               "--data",
                               data,
                               "--output",
                               output,
                               "--lr",
                               "5e-3",
                               "--head-lr",
                               "2e-2",
                               "--threads",
                               "1",
                               "--batch-size",
                               "4",
                               "--seed",
                               "3"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Invocation invocation_of(std::vector<std::string> arguments) {
  Invocation invocation;
  invocation.arguments = std::move(arguments);
  return invocation;
}

/// All that decides on the curve, so that a mistake in any of it shows.
std::vector<std::string> everything(std::vector<std::string> more) {
  more.insert(more.end(), {"--epochs", "3", "--drop-path", "0.2", "--ema", "0.9", "--accumulation",
                           "2", "--clip-norm", "0.5", "--class-weights", "inverse"});
  return more;
}

std::vector<nlohmann::json> log_of(const std::string& run) {
  std::vector<nlohmann::json> rows;
  std::istringstream log(file_text(run + "/log.jsonl"));
  for (std::string line; std::getline(log, line);) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

void expect_same_curve(const std::string& run, const std::string& reference) {
  const auto rows = log_of(run);
  const auto expected = log_of(reference);
  ASSERT_EQ(rows.size(), expected.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i]["step"], expected[i]["step"]);
    EXPECT_EQ(rows[i]["train_accuracy"], expected[i]["train_accuracy"]);
    EXPECT_EQ(rows[i]["val_accuracy"], expected[i]["val_accuracy"]);
    for (const char* loss : {"train_loss", "val_loss"}) {
      EXPECT_NEAR(rows[i][loss].get<double>(), expected[i][loss].get<double>(), kSameLoss)
          << loss << " of epoch " << i + 1;
    }
  }
}

TEST(FinetuneProcesses, GiveTheLossCurveOfOne) {
  const TemporaryFolder folder;
  const std::string data = table(folder);
  ASSERT_EQ(run_program(command(data, folder / "one", everything({}))).status, 0);
  for (const char* processes : {"2", "3"}) {
    const std::string run = folder / processes;
    const Finished finished =
        run_program(command(data, run, everything({"--processes", processes})));
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("epoch 3/3"));
    EXPECT_EQ(finished.out.find("epoch 3/3"), finished.out.rfind("epoch 3/3")) << "said twice";
    expect_same_curve(run, folder / "one");
  }
  EXPECT_NE(log_of(folder / "one").front()["train_loss"],
            log_of(folder / "one").back()["train_loss"]);
}

/// Runs until the first epoch is done and is then told to stop.
Finished interrupted(const std::vector<std::string>& arguments) {
  Invocation invocation = invocation_of(arguments);
  bool sent = false;
  invocation.watch = [&](pid_t pid, const Finished& so_far) {
    if (sent || so_far.out.find("epoch 1/3") == std::string::npos) return;
    sent = true;
    kill(pid, SIGTERM);
  };
  return run_program(invocation);
}

TEST(FinetuneProcesses, ARunGoesOnWithAnotherNumberOfThem) {
  const TemporaryFolder folder;
  const std::string data = table(folder);
  ASSERT_EQ(run_program(command(data, folder / "straight", everything({}))).status, 0);
  for (const auto& [before, after] : {std::pair("2", "1"), std::pair("1", "2")}) {
    const std::string run = folder / before;
    const Finished cut = interrupted(command(data, run, everything({"--processes", before})));
    ASSERT_EQ(cut.status, 130) << cut.err;
    EXPECT_LT(log_of(run).size(), 3u);
    const Finished resumed =
        run_program(command(data, run, everything({"--processes", after, "--resume"})));
    ASSERT_EQ(resumed.status, 0) << resumed.err;
    expect_same_curve(run, folder / "straight");
  }
}

/// Process numbers of those that a process started, in that order.
std::vector<pid_t> children_of(pid_t pid) {
  const std::string number = std::to_string(pid);
  std::istringstream text(file_text("/proc/" + number + "/task/" + number + "/children"));
  std::vector<pid_t> pids;
  for (pid_t child = 0; text >> child;) pids.push_back(child);
  return pids;
}

TEST(FinetuneProcesses, AKilledOneTakesTheOthersDown) {
  const TemporaryFolder folder;
  const std::string data = table(folder);
  for (const std::size_t rank : {0u, 1u}) {
    std::vector<pid_t> children;
    Clock::time_point killed;
    Invocation invocation = invocation_of(
        command(data, folder / std::to_string(rank), {"--processes", "2", "--epochs", "100000"}));
    invocation.watch = [&](pid_t pid, const Finished& so_far) {
      if (!children.empty() || so_far.out.find("epoch 1/") == std::string::npos) return;
      children = children_of(pid);
      killed = Clock::now();
      if (children.size() == 2) kill(children[rank], SIGKILL);
    };
    const Finished finished = run_program(invocation);
    EXPECT_LT(Clock::now() - killed, std::chrono::seconds(30));
    ASSERT_EQ(children.size(), 2u);
    EXPECT_EQ(finished.status, 128 + SIGKILL) << finished.err;
    EXPECT_THAT(finished.err,
                HasSubstr("process " + std::to_string(rank) + " of 2 (pid " +
                          std::to_string(children[rank]) + ") was ended by signal 9"));
    for (const pid_t child : children) EXPECT_NE(kill(child, 0), 0) << "still there";
  }
}

/// Process 1 of two that a launcher starts, and process 0 as `first`.
Finished launched(Invocation first, const std::function<void(pid_t)>& with_second) {
  Invocation second = first;
  for (const char* name : {"RANK", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK",
                           "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_PROCID", "SLURM_LOCALID"}) {
    if (second.environment.contains(name)) second.environment[name] = "1";
  }
  const pid_t pid = fork();
  if (pid == 0) {
    const int null = open("/dev/null", O_RDWR);
    detail::become_program(second, {null, null, null});
  }
  const auto watch = first.watch;
  first.watch = [&, watch](pid_t first_pid, const Finished& so_far) {
    if (watch) watch(first_pid, so_far);
    if (so_far.out.find("epoch 1/") != std::string::npos) with_second(pid);
  };
  const Finished finished = run_program(first);
  int status = 0;
  waitpid(pid, &status, 0);
  return finished;
}

std::string free_port() { return std::to_string(20000 + getpid() % 10000); }

TEST(FinetuneProcesses, WithoutASupervisorTheOthersMissAKilledOne) {
  const TemporaryFolder folder;
  Invocation first = invocation_of(command(table(folder), folder / "run", {"--epochs", "100000"}));
  first.environment = {{"RANK", "0"},
                       {"WORLD_SIZE", "2"},
                       {"LOCAL_RANK", "0"},
                       {"LOCAL_WORLD_SIZE", "2"},
                       {"MASTER_ADDR", "localhost"},
                       {"MASTER_PORT", free_port()}};
  pid_t killed = 0;
  Clock::time_point when;
  const Finished finished = launched(first, [&](pid_t second) {
    if (killed == 0) {
      kill(second, SIGKILL);
      when = Clock::now();
    }
    killed = second;
  });
  EXPECT_LT(Clock::now() - when, std::chrono::seconds(30));
  EXPECT_EQ(finished.status, 3) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("process 1 of 2 ("));
  EXPECT_THAT(finished.err, HasSubstr("pid " + std::to_string(killed) + ") is gone"));
  EXPECT_THAT(finished.err, HasSubstr("--resume"));
}

/// What srun and mpirun set; neither is needed for that.
TEST(FinetuneProcesses, StartedBySrunOrMpirun) {
  const TemporaryFolder folder;
  const std::string data = table(folder);
  const std::map<std::string, std::string> environments[] = {
      {{"SLURM_PROCID", "0"},
       {"SLURM_LOCALID", "0"},
       {"SLURM_STEP_NUM_TASKS", "2"},
       {"SLURM_NODEID", "0"},
       {"SLURM_STEP_TASKS_PER_NODE", "2"},
       {"SLURM_STEP_NODELIST", "localhost"},
       {"SLURM_JOB_ID", std::to_string(getpid())}},
      {{"OMPI_COMM_WORLD_RANK", "0"},
       {"OMPI_COMM_WORLD_SIZE", "2"},
       {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
       {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
       {"MASTER_PORT", free_port()}}};
  ASSERT_EQ(run_program(command(data, folder / "one", {"--epochs", "1"})).status, 0);
  for (std::size_t i = 0; i < std::size(environments); ++i) {
    const std::string run = folder / std::to_string(i);
    Invocation first = invocation_of(command(data, run, {"--epochs", "1"}));
    first.environment = environments[i];
    const Finished finished = launched(first, [](pid_t) {});
    ASSERT_EQ(finished.status, 0) << finished.err;
    expect_same_curve(run, folder / "one");
  }
}

TEST(FinetuneProcesses, BadInputIsSaidOnce) {
  const TemporaryFolder folder;
  const std::string data = table(folder);
  const Finished no_data =
      run_program(command(folder / "none", folder / "run", {"--processes", "2"}));
  EXPECT_EQ(no_data.status, 2);
  expect_one_error(no_data, {"none"});

  Invocation twice = invocation_of(command(data, folder / "run", {"--processes", "2"}));
  twice.environment = {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}};
  const Finished both = run_program(twice);
  EXPECT_EQ(both.status, 2);
  expect_one_error(both, {"--processes"});

  // A photo that one of them can't decode ends all.
  std::string text = file_text(data);
  text += folder.write("broken.jpg", "no photo") + ",cat,train\n";
  const Finished broken = run_program(command(folder.write("broken.csv", text), folder / "broken",
                                              {"--processes", "2", "--skip-check"}));
  EXPECT_EQ(broken.status, 2) << broken.err;
  EXPECT_THAT(broken.err, HasSubstr("broken.jpg"));
}

}  // namespace
}  // namespace vitascope::tests
