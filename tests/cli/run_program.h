#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

/// \file
/// Runs the program as a person would, without a shell in between.
namespace vitascope::tests {

/// What a run of the program left behind.
struct Finished {
  int status = -1;  ///< exit status; 128 + signal where a signal ended it
  std::string out, err;

  /// Lines of stderr.
  std::vector<std::string> errors() const {
    std::vector<std::string> lines;
    std::istringstream stream(err);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
};

/// How it is run.
struct Invocation {
  std::vector<std::string> arguments;
  std::string input;                               ///< stdin
  std::map<std::string, std::string> environment;  ///< added to the test's own
  std::string folder;                              ///< working directory; "": the test's own
  std::function<void(pid_t, const Finished&)> watch = {};  ///< called whenever output has come
  bool stdout_to_full_disk = false;
};

namespace detail {

[[noreturn]] inline void become_program(const Invocation& invocation, const int (&ends)[3]) {
  for (int stream = 0; stream < 3; ++stream) dup2(ends[stream], stream);
  if (invocation.stdout_to_full_disk) dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
  if (!invocation.folder.empty() && chdir(invocation.folder.c_str()) != 0) _exit(126);
  for (const auto& [name, value] : invocation.environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<char*> arguments{const_cast<char*>(VITASCOPE_PROGRAM)};
  for (const std::string& argument : invocation.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execv(VITASCOPE_PROGRAM, arguments.data());
  _exit(127);
}

/// Moves bytes between the pipes and the strings until the program has closed its ends.
inline void exchange(const Invocation& invocation, pid_t pid, int input, int out, int err,
                     Finished& finished) {
  std::size_t written = 0;
  struct Source {
    int descriptor;
    std::string* text;
  };
  Source sources[] = {{out, &finished.out}, {err, &finished.err}};
  while (sources[0].descriptor >= 0 || sources[1].descriptor >= 0) {
    if (input >= 0 && written == invocation.input.size()) {
      close(input);
      input = -1;
    }
    pollfd polled[] = {{sources[0].descriptor, POLLIN, 0},
                       {sources[1].descriptor, POLLIN, 0},
                       {input, POLLOUT, 0}};
    if (poll(polled, 3, -1) < 0 && errno != EINTR) break;
    if (polled[2].revents != 0) {
      const ssize_t count =
          write(input, invocation.input.data() + written, invocation.input.size() - written);
      written = count < 0 ? invocation.input.size() : written + static_cast<std::size_t>(count);
    }
    for (int i = 0; i < 2; ++i) {
      if (polled[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t count = read(sources[i].descriptor, buffer, sizeof(buffer));
      if (count > 0) {
        sources[i].text->append(buffer, static_cast<std::size_t>(count));
        if (invocation.watch) invocation.watch(pid, finished);
      } else {
        close(sources[i].descriptor);
        sources[i].descriptor = -1;
      }
    }
  }
  if (input >= 0) close(input);
}

}  // namespace detail

inline Finished run_program(const Invocation& invocation) {
  int input[2], out[2], err[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
    ADD_FAILURE() << "pipe2 failed";
    return {};
  }
  std::signal(SIGPIPE, SIG_IGN);  // the program may end before it has read its stdin
  const pid_t pid = fork();
  if (pid == 0) detail::become_program(invocation, {input[0], out[1], err[1]});
  for (const int end : {input[0], out[1], err[1]}) close(end);
  Finished finished;
  detail::exchange(invocation, pid, input[1], out[0], err[0], finished);
  int status = 0;
  waitpid(pid, &status, 0);
  finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

inline Finished run_program(std::vector<std::string> arguments) {
  return run_program(
      Invocation{.arguments = std::move(arguments), .input = "", .environment = {}, .folder = ""});
}

/// A folder of its own for a test, removed at its end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "vitascope-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// Path of a file or folder inside.
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

  /// Writes a file inside and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(*this / name).parent_path());
    std::ofstream(*this / name, std::ios::binary) << text;
    return *this / name;
  }

 private:
  std::string path_;
};

/// The whole content of a file.
inline std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// One line on stderr, with the program's prefix, that holds all of `parts`.
inline void expect_one_error(const Finished& finished, const std::vector<std::string>& parts) {
  ASSERT_EQ(finished.errors().size(), 1u) << finished.err;
  EXPECT_EQ(finished.err.rfind("vitascope: error: ", 0), 0u) << finished.err;
  for (const std::string& part : parts) {
    EXPECT_NE(finished.err.find(part), std::string::npos)
        << "no '" << part << "' in: " << finished.err;
  }
}

}  // namespace vitascope::tests
