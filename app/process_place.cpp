#include "app/process_place.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "app/output.h"
#include "app/values.h"
#include "vit/error.h"

namespace vitascope::app {
namespace {

constexpr int kUsualPort = 29500;  // PyTorch's
constexpr int kExitStatus = 3;

int number_of(const std::string& name, const std::string& text) {
  const std::optional<int> value = parse_whole<int>(text);
  if (!value || *value < 0) {
    throw UsageError(
        fmt::format("the environment's {} is {}: expected a whole number", name, in_quotes(text)));
  }
  return *value;
}

/// Reads numbers of the environment.
struct Reader {
  const Environment& environment;

  std::optional<int> number(const std::string& name) const {
    const std::optional<std::string> text = environment(name);
    return text ? std::optional<int>(number_of(name, *text)) : std::nullopt;
  }
  int number(const std::string& name, int otherwise) const {
    return number(name).value_or(otherwise);
  }
};

/// The names that a launcher uses.
struct Launcher {
  const char* name;
  const char* rank;
  const char* processes;
  const char* local_rank;
  const char* local_processes;
};

// The one that was started last comes first: torchrun may run under srun, and srun speaks PMI too.
// SLURM_NTASKS is set in a batch script as well, where nobody has started several processes.
constexpr Launcher kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", nullptr},
    {"mpirun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
};

/// Slurm's "2(x3),1": tasks of each node.
int tasks_of_node(const std::string& text, int node) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string entry = text.substr(at, end - at);
    const std::size_t times = entry.find("(x");
    const int tasks = number_of("SLURM_STEP_TASKS_PER_NODE", entry.substr(0, times));
    node -= times == std::string::npos
                ? 1
                : number_of("SLURM_STEP_TASKS_PER_NODE",
                            entry.substr(times + 2, entry.find(')') - times - 2));
    if (node < 0) return tasks;
    at = end + 1;
  }
  return 1;
}

/// The first of Slurm's "node[01-04,07],other": there runs the first process.
std::string first_node(const std::string& list) {
  const std::size_t bracket = list.find('[');
  const std::size_t comma = list.find(',');
  if (bracket > comma) return list.substr(0, comma);
  if (bracket == std::string::npos) return list;
  const std::size_t end = list.find_first_of("-,]", bracket);
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1);
}

/// Two jobs may share a node.
int slurm_port(const Reader& reader) {
  constexpr int kFirst = 15000;
  constexpr int kPorts = 15000;  // below those that systems hand out by themselves
  return kFirst +
         (reader.number("SLURM_JOB_ID", 0) + 7 * reader.number("SLURM_STEP_ID", 0)) % kPorts;
}

/// What this process may keep busy of the cores that it shares with the others of this machine.
int share_of_cores(const ProcessPlace& place) {
  const int own = available_cores();
  if (place.cores) return std::clamp(*place.cores, 1, own);
  if (!place.bound) return std::max(own / place.here.processes, 1);
  const double machine =
      std::min(static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)), cgroup_cores(""));
  return std::clamp(static_cast<int>(machine / place.here.processes), 1, own);
}

std::string host_of(const Launcher& launcher, const Reader& reader, const ProcessPlace& place) {
  if (const auto host = reader.environment("MASTER_ADDR")) return *host;
  if (place.here.processes == place.seat.processes) return "127.0.0.1";
  if (launcher.name == std::string_view("srun")) {
    if (const auto nodes = reader.environment("SLURM_STEP_NODELIST")) return first_node(*nodes);
  }
  throw UsageError(fmt::format(
      "{} started {} processes on several machines: MASTER_ADDR must name the machine of the "
      "first one (mpirun -x MASTER_ADDR=HOST)",
      launcher.name, place.seat.processes));
}

/// The launcher that started this process beside others; null where it is alone.
const Launcher* launcher_of(const Reader& reader) {
  for (const Launcher& launcher : kLaunchers) {
    if (!reader.number(launcher.rank) || !reader.number(launcher.processes)) continue;
    return *reader.number(launcher.processes) < 2 ? nullptr : &launcher;
  }
  return nullptr;
}

ProcessPlace place_by(const Launcher& launcher, const Reader& reader) {
  ProcessPlace place;
  place.seat = {*reader.number(launcher.rank), *reader.number(launcher.processes)};
  if (place.seat.rank >= place.seat.processes) {
    throw UsageError(fmt::format("the environment's {} is {} and {} is {}: expected a lower rank",
                                 launcher.rank, place.seat.rank, launcher.processes,
                                 place.seat.processes));
  }
  place.bound = launcher.name != std::string_view("torchrun");
  place.here.rank = reader.number(launcher.local_rank, 0);
  const bool slurm = launcher.name == std::string_view("srun");
  if (!slurm) {
    place.here.processes = reader.number(launcher.local_processes, 1);
  } else if (const auto tasks = reader.environment("SLURM_STEP_TASKS_PER_NODE")) {
    place.here.processes = tasks_of_node(*tasks, reader.number("SLURM_NODEID", 0));
  }
  if (slurm) place.cores = reader.number("SLURM_CPUS_PER_TASK");
  return place;
}

train::StorePlace store_by(const Launcher& launcher, const Reader& reader,
                           const ProcessPlace& place) {
  train::StorePlace store{};
  store.host = host_of(launcher, reader, place);
  const bool slurm = launcher.name == std::string_view("srun");
  const int port = reader.number("MASTER_PORT", slurm ? slurm_port(reader) : kUsualPort);
  if (port < 1 || port > 65535) {
    throw UsageError(fmt::format("the environment's MASTER_PORT is {}: expected 1 to 65535", port));
  }
  store.port = static_cast<std::uint16_t>(port);
  // torchrun's agent may hold the store already, with words of earlier attempts in it.
  const bool held = reader.environment("TORCHELASTIC_USE_AGENT_STORE") == "True";
  store.serve = place.seat.first() && !held;
  if (held) store.keeper = "the launcher";
  store.run = fmt::format("vitascope/{}", reader.number("TORCHELASTIC_RESTART_COUNT", 0));
  return store;
}

}  // namespace

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::optional<ProcessPlace> process_place(const Environment& environment) {
  const Reader reader{environment};
  const Launcher* launcher = launcher_of(reader);
  if (launcher == nullptr) return std::nullopt;
  ProcessPlace place = place_by(*launcher, reader);
  place.store = store_by(*launcher, reader, place);
  place.supervised = environment("VITASCOPE_SUPERVISED").has_value();
  return place;
}

std::optional<ProcessPlace> launched_place(const Environment& environment) {
  const Reader reader{environment};
  const Launcher* launcher = launcher_of(reader);
  if (launcher == nullptr) return std::nullopt;
  return place_by(*launcher, reader);
}

RunOptions run_options_at(RunOptions run, const ProcessPlace& place) {
  if (run.threads == 0) run.threads = share_of_cores(place);
  if (run.device == "cuda") run.device = fmt::format("cuda:{}", place.here.rank);
  run.quiet = run.quiet || !place.seat.first();
  return run;
}

int run_together(const ProcessPlace& place, const std::function<int(train::ProcessGroup&)>& body) {
  const auto end = [](const std::string& message) {
    output::error(message + "; what was saved is kept: --resume goes on");
    // The main thread waits for somebody who is not there.
    ::_exit(kExitStatus);
  };
  train::ProcessGroup group(place.store, place.seat, end);
  try {
    return body(group);
  } catch (const std::exception& error) {
    group.fail(error.what());
    throw;
  }
}

}  // namespace vitascope::app
