#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/golden_logits.h"
#include "tests/cli/run_program.h"
#include "tests/cli/tiny_captions.h"

namespace vitascope::tests {
namespace {

using testing::HasSubstr;

/// configs/ of the source tree, found from tests/golden.
std::string shipped_recipe(const std::string& command) {
  return golden("../../configs/" + command + ".yaml");
}

/// The value and the source of a key in what --print-config printed.
struct Setting {
  std::string value, source;
};

std::map<std::string, Setting> settings(const std::string& printed) {
  std::map<std::string, Setting> result;
  std::istringstream stream(printed);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t colon = line.find(": "), comment = line.find("  # ");
    std::string value = line.substr(colon + 2, comment - colon - 2);
    value.erase(value.find_last_not_of(' ') + 1);
    result[line.substr(0, colon)] = {value, line.substr(comment + 4)};
  }
  return result;
}

TEST(Recipe, FlagsWinOverSetOverFileOverDefaults) {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("run.yaml", "top: 7\nbatch_size: 3\nthreads: 2\nmodel: m\n");
  const Finished finished = run_program({"classify", "--config", file, "--set", "batch-size=4",
                                         "--set", "top=8", "--top", "9", "--print-config"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  auto printed = settings(finished.out);
  EXPECT_EQ(printed["top"].value, "9");
  EXPECT_EQ(printed["top"].source, "flag");
  EXPECT_EQ(printed["batch-size"].value, "4");
  EXPECT_EQ(printed["batch-size"].source, "--set");
  EXPECT_EQ(printed["threads"].value, "2");
  EXPECT_EQ(printed["threads"].source, file + ":3");
  EXPECT_EQ(printed["format"].value, "text");
  EXPECT_EQ(printed["format"].source, "default");
}

TEST(Recipe, ReplacesFlagsInARealRun) {
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "run.yaml", "model: " + golden("models/hf-vit") + "\ninputs:\n  - " +
                      golden("images/rgb.png") + "\nformat: json\ntop: 2\nquiet: true\n");
  const Finished by_file = run_program({"classify", "--config", file});
  ASSERT_EQ(by_file.status, 0) << by_file.err;
  EXPECT_EQ(nlohmann::json::parse(by_file.out)["predictions"].size(), 2u);
}

TEST(Recipe, PrintedConfigurationIsARecipeWithTheSameValues) {
  const TemporaryFolder folder;
  const Finished first = run_program({"classify", "--model", "a b: #c", "--mean", "0.1,0.2,0.3",
                                      "x y.jpg", "null", "--recursive", "--print-config"});
  ASSERT_EQ(first.status, 0) << first.err;
  const std::string file = folder.write("again.yaml", first.out);
  const Finished second = run_program({"classify", "--config", file, "--print-config"});
  ASSERT_EQ(second.status, 0) << second.err;
  auto before = settings(first.out), after = settings(second.out);
  ASSERT_EQ(before.size(), after.size());
  for (const auto& [key, setting] : before) EXPECT_EQ(setting.value, after[key].value) << key;
  EXPECT_EQ(before["model"].value, "\"a b: #c\"");
}

/// A recipe that is wrong, and what the one line must hold after the file's name.
struct Wrong {
  const char* name;
  const char* text;
  std::vector<std::string> parts;
};

void PrintTo(const Wrong& wrong, std::ostream* stream) { *stream << wrong.name; }

class WrongRecipe : public testing::TestWithParam<Wrong> {};

TEST_P(WrongRecipe, IsAnsweredWithItsPlace) {
  const TemporaryFolder folder;
  const std::string file = folder.write("wrong.yaml", GetParam().text);
  const Finished finished = run_program({"classify", "--config", file, "--print-config"});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.out, "");
  expect_one_error(finished, GetParam().parts);
}

INSTANTIATE_TEST_SUITE_P(
    Errors, WrongRecipe,
    testing::Values(
        Wrong{"unknown key",
              "top: 3\n  \nbatch_sizes: 4\n",
              {"wrong.yaml:3:1: ", "'batch_sizes'", "did you mean 'batch-size'?"}},
        Wrong{"wrong type",
              "top: 3\nbatch-size: many\n",
              {"wrong.yaml:2:13: ", "batch-size", "'many'"}},
        Wrong{"out of range", "top: 0\n", {"wrong.yaml:1:6: ", "'0'"}},
        Wrong{"no choice", "format: jsn\n", {"wrong.yaml:1:9: ", "did you mean 'json'?"}},
        Wrong{"no boolean", "recursive: 3\n", {"wrong.yaml:1:12: ", "true or false"}},
        Wrong{"yes", "recursive: yes\n", {"wrong.yaml:1:12: ", "true or false"}},
        Wrong{"list for a flag", "recursive: [true]\n", {"wrong.yaml:1:12: ", "true or false"}},
        Wrong{"list for a number", "top: [1, 2]\n", {"wrong.yaml:1:6: ", "whole number"}},
        Wrong{"keys inside", "top:\n  deep: 1\n", {"wrong.yaml:2:3: ", "flat"}},
        Wrong{"twice", "top: 1\ntop: 2\n", {"wrong.yaml:2:1: ", "'top'", "line 1"}},
        Wrong{"twice by another spelling",
              "batch_size: 1\nbatch-size: 2\n",
              {"wrong.yaml:2:1: ", "'batch-size'", "line 1"}},
        Wrong{"no YAML", "top: [1, 2\nmodel: x\n", {"wrong.yaml:", "not YAML"}},
        Wrong{"no map", "- top\n", {"wrong.yaml:1:1: "}},
        Wrong{"two documents", "top: 1\n---\ntop: 2\n", {"wrong.yaml", "one YAML document"}},
        Wrong{"recipe in a recipe", "config: other.yaml\n", {"wrong.yaml:1:1: ", "'config'"}}));

TEST(Recipe, AMissingFileIsNamed) {
  const Finished finished = run_program({"classify", "--config", "/no/such.yaml"});
  EXPECT_EQ(finished.status, 2);
  expect_one_error(finished, {"--config", "/no/such.yaml"});
}

TEST(Recipe, SetIsCheckedAsTheFileIs) {
  const struct {
    const char* set;
    std::vector<std::string> parts;
  } cases[] = {{"tops=3", {"--set", "'tops'", "did you mean 'top'?"}},
               {"top", {"--set", "'top'", "key=value"}},
               {"top=many", {"--set", "'many'"}},
               {"recursive=1", {"--set", "true or false"}}};
  for (const auto& test : cases) {
    const Finished finished = run_program({"classify", "--set", test.set});
    EXPECT_EQ(finished.status, 2) << test.set;
    expect_one_error(finished, test.parts);
  }
}

class ShippedRecipe : public testing::TestWithParam<const char*> {};

TEST_P(ShippedRecipe, HoldsEveryOptionAtItsDefault) {
  const std::string file = shipped_recipe(GetParam());
  const Finished plain = run_program({GetParam(), "--print-config"});
  const Finished shipped = run_program({GetParam(), "--config", file, "--print-config"});
  ASSERT_EQ(shipped.status, 0) << shipped.err;
  auto defaults = settings(plain.out), values = settings(shipped.out);
  ASSERT_EQ(defaults.size(), values.size());
  for (const auto& [key, setting] : values) {
    EXPECT_EQ(setting.value, defaults[key].value) << key;
    EXPECT_EQ(setting.source.rfind(file + ":", 0), 0u) << key << " is not in " << file;
  }
}

TEST_P(ShippedRecipe, ExplainsEveryKeyInAComment) {
  std::istringstream lines(file_text(shipped_recipe(GetParam())));
  std::string previous;
  for (std::string line; std::getline(lines, line); previous = line) {
    if (line.empty() || line[0] == '#') continue;
    EXPECT_EQ(previous.rfind("# ", 0), 0u) << "no comment above: " << line;
  }
}

/// What a command must be given beside its recipe.
std::vector<std::string> inputs_of(const std::string& command, const TemporaryFolder& folder) {
  if (command == "score-captions") {
    const std::string references = R"({"images": [{"id": 1, "file_name": "a"}],
                                       "annotations": [{"image_id": 1, "caption": "a dog"}]})";
    return {folder.write("r.json", R"([{"image_id": 1, "caption": "a dog"}])"), "--references",
            folder.write("c.json", references)};
  }
  if (command == "make-scenes") {
    return {folder / "scenes", "--count", "2", "--validation", "0", "--held-out", "1"};
  }
  if (command == "train-captioner") {
    return {"--data", tiny_captions(folder), "--encoder", golden("models/hf-vit"), "--min-count",
            "1"};
  }
  if (command == "caption") {
    const std::string run = folder / "captioner";
    const Finished trained = run_program(train_tiny_captioner(folder, run, {"--epochs", "1"}));
    EXPECT_EQ(trained.status, 0) << trained.err;
    return {golden("images/rgb.png"), "--model", run};
  }
  const std::string table =
      folder.write("t.csv", "path,label,split\n" + golden("images/rgb.png") + ",tabby cat,train\n" +
                                golden("images/gray.jpg") + ",golden retriever,val\n");
  if (command == "check-data") return {table};
  if (command == "finetune" || command == "evaluate")
    return {"--data", table, "--model", golden("models/hf-vit")};
  return {golden("images/rgb.png"), "--model", golden("models/hf-vit")};
}

TEST_P(ShippedRecipe, Runs) {
  const TemporaryFolder folder;
  const std::string command = GetParam();
  std::vector<std::string> arguments{command, "--config", shipped_recipe(command)};
  const std::vector<std::string> inputs = inputs_of(command, folder);
  arguments.insert(arguments.end(), inputs.begin(), inputs.end());
  const std::map<std::string, std::string> outputs{
      {"embed", "e.npy"}, {"attend", "a.png"}, {"finetune", "run"}, {"train-captioner", "run"}};
  if (const auto output = outputs.find(GetParam()); output != outputs.end()) {
    arguments.insert(arguments.end(), {"--output", folder / output->second});
  }
  const Finished finished = run_program(arguments);
  EXPECT_EQ(finished.status, 0) << finished.err;
}

INSTANTIATE_TEST_SUITE_P(Commands, ShippedRecipe,
                         testing::Values("classify", "embed", "attend", "check-data", "evaluate",
                                         "finetune", "score-captions", "caption", "train-captioner",
                                         "make-scenes"));

}  // namespace
}  // namespace vitascope::tests
