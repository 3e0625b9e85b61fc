#include "app/process_place.h"

#include <gmock/gmock.h>

#include <map>

#include "vit/error.h"

namespace vitascope::app {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<ProcessPlace> place_in(const Variables& variables) {
  return process_place([&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

TEST(ProcessPlace, AloneWhereNobodyStartedSeveral) {
  EXPECT_FALSE(place_in({}));
  EXPECT_FALSE(place_in({{"RANK", "3"}}));
  EXPECT_FALSE(place_in({{"RANK", "0"}, {"WORLD_SIZE", "1"}}));
  // A batch script: its tasks are started by srun, each in a step.
  EXPECT_FALSE(place_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "0"}}));
}

TEST(ProcessPlace, OfTorchrun) {
  Variables variables{{"RANK", "5"},
                      {"WORLD_SIZE", "8"},
                      {"LOCAL_RANK", "1"},
                      {"LOCAL_WORLD_SIZE", "4"},
                      {"MASTER_ADDR", "node7"},
                      {"MASTER_PORT", "4711"},
                      {"TORCHELASTIC_USE_AGENT_STORE", "False"},
                      {"TORCHELASTIC_RESTART_COUNT", "2"},
                      // torchrun under srun
                      {"SLURM_PROCID", "1"},
                      {"SLURM_STEP_NUM_TASKS", "2"}};
  auto place = place_in(variables);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->seat.rank, 5);
  EXPECT_EQ(place->seat.processes, 8);
  EXPECT_EQ(place->here.rank, 1);
  EXPECT_EQ(place->here.processes, 4);
  EXPECT_EQ(place->store.host, "node7");
  EXPECT_EQ(place->store.port, 4711);
  EXPECT_FALSE(place->store.serve);
  EXPECT_EQ(place->store.keeper, "process 0");
  const std::string second_attempt = place->store.run;
  variables["RANK"] = "0";
  variables["TORCHELASTIC_RESTART_COUNT"] = "3";
  EXPECT_TRUE(place_in(variables)->store.serve);
  EXPECT_NE(place_in(variables)->store.run, second_attempt);
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_FALSE(place_in(variables)->store.serve);
}

TEST(ProcessPlace, OfSrun) {
  Variables variables{{"SLURM_PROCID", "2"},
                      {"SLURM_STEP_NUM_TASKS", "7"},
                      {"SLURM_NTASKS", "7"},
                      {"SLURM_LOCALID", "0"},
                      {"SLURM_NODEID", "1"},
                      {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"},
                      {"SLURM_STEP_NODELIST", "gpu[003-005,9],other"},
                      {"SLURM_JOB_ID", "123456"},
                      {"SLURM_STEP_ID", "0"},
                      {"PMI_RANK", "0"},
                      {"PMI_SIZE", "99"}};
  auto place = place_in(variables);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->seat.rank, 2);
  EXPECT_EQ(place->seat.processes, 7);
  EXPECT_EQ(place->here.processes, 2);
  EXPECT_EQ(place->store.host, "gpu003");
  EXPECT_GE(place->store.port, 15000);
  EXPECT_LT(place->store.port, 30000);
  variables["SLURM_JOB_ID"] = "123457";
  EXPECT_NE(place_in(variables)->store.port, place->store.port);
  variables["SLURM_NODEID"] = "3";
  EXPECT_EQ(place_in(variables)->here.processes, 1);
  for (const auto& [list, first] :
       Variables{{"a,b[1-2]", "a"}, {"a", "a"}, {"n[7]", "n7"}, {"n[07,09-11]", "n07"}}) {
    variables["SLURM_STEP_NODELIST"] = list;
    EXPECT_EQ(place_in(variables)->store.host, first) << list;
  }
  variables["MASTER_ADDR"] = "10.0.0.1";
  EXPECT_EQ(place_in(variables)->store.host, "10.0.0.1");
}

TEST(ProcessPlace, OfMpirun) {
  Variables open_mpi{{"OMPI_COMM_WORLD_RANK", "1"},
                     {"OMPI_COMM_WORLD_SIZE", "2"},
                     {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                     {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
  EXPECT_EQ(place_in(open_mpi)->seat.rank, 1);
  EXPECT_EQ(place_in(open_mpi)->store.host, "127.0.0.1");
  EXPECT_EQ(place_in(open_mpi)->store.port, 29500);
  const Variables mpich{
      {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};
  EXPECT_EQ(place_in(mpich)->here.rank, 1);
  open_mpi["OMPI_COMM_WORLD_LOCAL_SIZE"] = "1";
  EXPECT_THROW(place_in(open_mpi), UsageError);
  // Who only shares a list has nobody to meet.
  const auto apart = launched_place([&](const std::string& name) {
    const auto found = open_mpi.find(name);
    return found == open_mpi.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->seat.rank, 1);
  EXPECT_EQ(apart->here.processes, 1);
  open_mpi["MASTER_ADDR"] = "node1";
  EXPECT_EQ(place_in(open_mpi)->store.host, "node1");
}

TEST(ProcessPlace, NonsenseIsNamed) {
  const struct {
    Variables variables;
    std::string part;
  } cases[] = {
      {{{"RANK", "two"}, {"WORLD_SIZE", "4"}}, "RANK"},
      {{{"RANK", "-1"}, {"WORLD_SIZE", "4"}}, "RANK"},
      {{{"RANK", "4"}, {"WORLD_SIZE", "4"}}, "lower rank"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "0"}},
       "MASTER_PORT"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "70000"}},
       "MASTER_PORT"},
  };
  for (const auto& [variables, part] : cases) {
    try {
      place_in(variables);
      ADD_FAILURE() << part;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(part));
    }
  }
}

/// Without a plugin that binds tasks to cores nothing else tells how many are theirs.
TEST(ProcessPlace, SlurmsPromiseOfCoresIsKept) {
  const auto place = place_in({{"SLURM_PROCID", "0"},
                               {"SLURM_STEP_NUM_TASKS", "2"},
                               {"SLURM_STEP_NODELIST", "n1,n2"},
                               {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"},
                               {"SLURM_CPUS_PER_TASK", "1"}});
  ASSERT_TRUE(place);
  EXPECT_EQ(run_options_at({}, *place).threads, 1);
}

TEST(ProcessPlace, CoresAreShared) {
  ProcessPlace place{.seat = {1, 2}, .here = {1, 2}};
  EXPECT_EQ(run_options_at({}, place).threads, std::max(available_cores() / 2, 1));
  EXPECT_TRUE(run_options_at({}, place).quiet);
  EXPECT_EQ(run_options_at({.device = "cuda", .threads = 3}, place).threads, 3);
  EXPECT_EQ(run_options_at({.device = "cuda"}, place).device, "cuda:1");
  place.bound = true;
  place.here.processes = 1;
  EXPECT_EQ(run_options_at({}, place).threads, available_cores());
  place.here.processes = 1000;
  EXPECT_EQ(run_options_at({}, place).threads, 1);
  place.seat.rank = 0;
  EXPECT_FALSE(run_options_at({}, place).quiet);
}

}  // namespace
}  // namespace vitascope::app
