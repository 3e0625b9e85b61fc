#include "app/recipe.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "app/values.h"
#include "vit/error.h"

namespace vitascope::app {
namespace {

using testing::HasSubstr;

/// A small command with an option of each kind.
struct Command {
  CLI::App app{"", "command"};
  std::vector<std::string> inputs;
  std::string model, mean;
  int batch_size = 8;
  std::optional<int> top;
  bool quiet = false;
  RecipeOptions recipe;

  explicit Command(const std::vector<std::string>& arguments) {
    app.option_defaults()->always_capture_default()->multi_option_policy(
        CLI::MultiOptionPolicy::TakeLast);
    app.add_option("inputs", inputs);
    app.add_option("--model", model);
    app.add_option("--mean", mean)->check(accepted_by(parse_channels));
    app.add_option("--batch-size", batch_size)->check(whole_number(1, 100));
    app.add_option("--top", top)->check(whole_number(1, 100));
    app.add_flag("--quiet", quiet);
    add_recipe_options(app, recipe);
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  }
  Sources apply() { return apply_recipe(app, recipe); }
};

/// A YAML file for one test.
class RecipeTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "vitascope-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string yaml(const std::string& text) const {
    std::ofstream(folder_ + "/r.yaml") << text;
    return folder_ + "/r.yaml";
  }
  std::string folder_;
};

TEST_F(RecipeTest, FillsWhatHasNoFlag) {
  const std::string file =
      yaml("inputs: [a, b]\nmodel: m\nmean: [0.1, 0.2, 0.3]\nbatch_size: 3\ntop: 2\nquiet: true\n");
  Command command({"--config", file, "--batch-size", "5"});
  const Sources sources = command.apply();
  EXPECT_EQ(command.inputs, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(command.model, "m");
  EXPECT_EQ(command.mean, "0.1,0.2,0.3");
  EXPECT_EQ(command.batch_size, 5);
  EXPECT_EQ(command.top, 2);
  EXPECT_TRUE(command.quiet);
  EXPECT_EQ(sources.at(command.app.get_option("--top")), file + ":5");
  EXPECT_EQ(sources.at(command.app.get_option("--batch-size")), "flag");
}

TEST_F(RecipeTest, SetWinsOverTheFileAndTheLastSetWins) {
  Command command({"--config", yaml("batch-size: 3\ntop: 2\n"), "--set", "batch_size=4", "--set",
                   "batch-size=6", "--set", "model=a=b"});
  const Sources sources = command.apply();
  EXPECT_EQ(command.batch_size, 6);
  EXPECT_EQ(command.top, 2);
  EXPECT_EQ(command.model, "a=b");
  EXPECT_EQ(sources.at(command.app.get_option("--batch-size")), "--set");
}

TEST_F(RecipeTest, SetDoesNotEatThePhotosBehindIt) {
  Command command({"--set", "top=3", "photo.jpg"});
  command.apply();
  EXPECT_EQ(command.inputs, std::vector<std::string>{"photo.jpg"});
}

TEST_F(RecipeTest, NullLeavesTheDefault) {
  Command command({"--config", yaml("top: 4\nbatch-size: null\n"), "--set", "top=null"});
  command.apply();
  EXPECT_EQ(command.top, std::nullopt);
  EXPECT_EQ(command.batch_size, 8);
}

TEST_F(RecipeTest, FalseCanBeSaidToo) {
  Command command({"--config", yaml("quiet: true\n"), "--set", "quiet=false"});
  command.apply();
  EXPECT_FALSE(command.quiet);
}

TEST_F(RecipeTest, WhatIsRefusedIsNamedWithItsPlace) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"\nbatch-sizes: 3\n", "r.yaml:2:1: unknown key 'batch-sizes'; did you mean 'batch-size'?"},
      {"batch-size: x\n", "r.yaml:1:13: batch-size: 'x' is not a whole number from 1 to 100"},
      {"mean: [1, 2]\n", "r.yaml:1:7: mean: '1,2' is not three numbers"},
      {"quiet: on\n", "r.yaml:1:8: quiet: expected true or false, got 'on'"},
      {"help: true\n", "r.yaml:1:1: unknown key 'help'"},
      {"set: top=1\n", "r.yaml:1:1: unknown key 'set'"}};
  for (const auto& test : cases) {
    Command command({"--config", yaml(test.text)});
    EXPECT_THAT([&] { command.apply(); },
                testing::ThrowsMessage<UsageError>(HasSubstr(test.message)));
  }
}

TEST_F(RecipeTest, ConfigTextSaysEveryValueAndItsSource) {
  Command command({"--set", "top=3", "--quiet", "a b.jpg", "null"});
  const Sources sources = command.apply();
  const std::string text = config_text(command.app, sources);
  std::istringstream lines(text);
  std::map<std::string, std::string> found;
  for (std::string line; std::getline(lines, line);) {
    found[line.substr(0, line.find(':'))] = line.substr(line.find(": ") + 2);
  }
  EXPECT_EQ(found.size(), 6u) << text;
  EXPECT_THAT(found["inputs"], testing::MatchesRegex("\\[\"a b.jpg\", \"null\"\\] +# flag"));
  EXPECT_THAT(found["model"], testing::MatchesRegex("null +# default"));
  EXPECT_THAT(found["batch-size"], testing::MatchesRegex("8 +# default"));
  EXPECT_THAT(found["top"], testing::MatchesRegex("3 +# --set"));
  EXPECT_THAT(found["quiet"], testing::MatchesRegex("true +# flag"));
}

TEST_F(RecipeTest, KnowsWhatIsNotAtItsDefault) {
  Command command({"--batch-size", "8", "--quiet"});
  command.recipe.set = {"top=2"};
  command.apply();
  const std::vector<OptionValue> changed = changed_options(command.app);
  ASSERT_EQ(changed.size(), 2u) << "a default that is given is no change";
  EXPECT_EQ(changed[0].name, "top");
  EXPECT_EQ(changed[0].value, "2");
  EXPECT_EQ(changed[1].name, "quiet");
  EXPECT_EQ(changed[1].value, "true");
}

}  // namespace
}  // namespace vitascope::app
