#include <gmock/gmock.h>

#include <set>

#include "tests/cli/run_program.h"

namespace vitascope::tests {
namespace {

/// Lets bash complete a line and gives the words back.
std::vector<std::string> completions(const std::vector<std::string>& words) {
  const TemporaryFolder folder;
  const Finished printed = run_program({"--completion", "bash"});
  EXPECT_EQ(printed.status, 0);
  std::string script = printed.out + "COMP_WORDS=(";
  for (const std::string& word : words) script += "'" + word + "' ";
  script += ")\nCOMP_CWORD=" + std::to_string(words.size() - 1) +
            "\n_vitascope\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
  const std::string file = folder.write("complete.bash", script);
  FILE* pipe = popen(("bash " + file).c_str(), "r");
  std::vector<std::string> lines;
  char line[4096];
  while (fgets(line, sizeof(line), pipe) != nullptr) {
    lines.emplace_back(line);
    lines.back().pop_back();
  }
  EXPECT_EQ(pclose(pipe), 0);
  if (lines == std::vector<std::string>{""}) lines.clear();
  return lines;
}

TEST(Completion, CompletesCommands) {
  EXPECT_THAT(completions({"vitascope", "cl"}), testing::ElementsAre("classify"));
}

TEST(Completion, CompletesEveryOptionThatHelpNames) {
  for (const std::string command :
       {"classify", "embed", "info", "verify", "benchmark", "convert", "score-captions"}) {
    const std::vector<std::string> words = completions({"vitascope", command, "--"});
    const std::set<std::string> known(words.begin(), words.end());
    std::istringstream help(run_program({command, "--help"}).out);
    std::size_t named = 0;
    for (std::string line; std::getline(help, line);) {
      // Options stand in columns: two spaces, "-x, " or four spaces, then the long name.
      if (line.rfind("  ", 0) != 0 || line.size() < 8 || line.compare(6, 2, "--") != 0) continue;
      const std::string name = line.substr(6, line.find_first_of(" ,", 6) - 6);
      EXPECT_TRUE(known.contains(name)) << command << " " << name;
      ++named;
    }
    EXPECT_GE(named, 4u) << command;
    EXPECT_EQ(named, known.size()) << command;
  }
}

TEST(Completion, CompletesFixedValues) {
  EXPECT_THAT(completions({"vitascope", "classify", "--format", ""}),
              testing::UnorderedElementsAre("text", "json", "csv"));
  EXPECT_THAT(completions({"vitascope", "embed", "--pool", "c"}), testing::ElementsAre("class"));
}

TEST(Completion, LeavesFileNamesToBash) {
  EXPECT_THAT(completions({"vitascope", "classify", "--model", "x"}), testing::IsEmpty());
}

}  // namespace
}  // namespace vitascope::tests
