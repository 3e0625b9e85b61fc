#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/run_program.h"

namespace vitascope::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(MakeScenes, WritesPicturesCaptionsAndOutlines) {
  const TemporaryFolder folder;
  const std::string made = folder / "scenes";
  const std::vector<std::string> command{"make-scenes", made, "--count", "6",  "--validation", "2",
                                         "--held-out",  "3",  "--size",  "112"};
  const Finished finished = run_program(command);
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("6 scenes for training, 2 for validation, 3 held out"));

  const json captions = json::parse(file_text(made + "/captions.json"));
  ASSERT_EQ(captions["images"].size(), 11U);
  std::map<std::string, int> splits;
  for (const json& image : captions["images"]) {
    ++splits[image["split"]];
    EXPECT_TRUE(std::filesystem::exists(made + "/images/" + image["filename"].get<std::string>()));
  }
  EXPECT_EQ(splits, (std::map<std::string, int>{{"train", 6}, {"val", 2}, {"test", 3}}));

  const json instances = json::parse(file_text(made + "/instances.json"));
  for (const json& object : instances["annotations"]) {
    const json& sentence =
        captions["images"][object["image_id"].get<std::size_t>()]["sentences"][0];
    const std::size_t category = object["category_id"].get<std::size_t>() - 1;
    const std::string kind = instances["categories"][category]["name"];
    std::string said;  // the last two words about it: colour and shape
    for (const json& word : object["words"]) {
      said += " " + sentence["tokens"][word.get<std::size_t>()].get<std::string>();
    }
    EXPECT_GT(object["area"],
              0.3 * object["bbox"][2].get<double>() * object["bbox"][3].get<double>());
    EXPECT_THAT(said, testing::AnyOf(testing::EndsWith(kind), testing::EndsWith(kind + "s")));
    EXPECT_THAT(sentence["raw"].get<std::string>(), HasSubstr(said.substr(1)));
  }

  const Finished again = run_program(command);
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("captions.json"));
  EXPECT_EQ(run_program({"make-scenes", made, "--count", "1", "--force", "--quiet"}).status, 0);
}

TEST(MakeScenes, NeedsAFolder) {
  const Finished finished = run_program({"make-scenes"});
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr("make-scenes DIR"));
}

}  // namespace
}  // namespace vitascope::tests
