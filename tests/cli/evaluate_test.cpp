#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/golden_logits.h"
#include "tests/cli/run_program.h"

namespace vitascope::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// The two golden photos with these labels; the model's answers to them are known.
std::string table(const TemporaryFolder& folder, const std::string& first,
                  const std::string& second) {
  const std::vector<std::string> photos = golden_photos();
  return folder.write("t.csv", "path,label,split\n" + photos[0] + "," + first + ",val\n" +
                                   photos[1] + "," + second + ",val\n");
}

Finished evaluate(const std::string& data, std::vector<std::string> more,
                  const std::string& model = golden("models/hf-vit")) {
  std::vector<std::string> arguments{"evaluate", "--quiet", "--model", model, "--data", data};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

/// What Python's model says of a golden photo.
struct Answer {
  std::string label;
  std::vector<double> probabilities;
};

Answer answer(std::size_t photo) {
  const auto stored = weights::read_safetensors(golden("models/hf-vit/expected.safetensors"));
  const std::vector<double> all = softmax(values_of(stored, "logits").row(photo));
  const auto top = std::max_element(all.begin(), all.end()) - all.begin();
  const json config = json::parse(file_text(golden("models/hf-vit/config.json")));
  return {config["id2label"][std::to_string(top)], all};
}

TEST(Evaluate, RightAnswersAreRight) {
  const TemporaryFolder folder;
  const Finished finished =
      evaluate(table(folder, answer(0).label, answer(1).label), {"--format", "json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  const json result = json::parse(finished.out);
  EXPECT_EQ(result["top1"], 1.0);
  EXPECT_EQ(result["split"], "validation");
  EXPECT_EQ(result["photos"], 2);
  double nll = 0;
  for (const std::size_t i : {0u, 1u})
    nll -= std::log(std::ranges::max(answer(i).probabilities)) / 2;
  EXPECT_NEAR(result["nll"].get<double>(), nll, 1e-5);
}

TEST(Evaluate, LabelsMeetByNameWhateverTheirCase) {
  const TemporaryFolder folder;
  std::string upper = answer(0).label;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const json result = json::parse(
      evaluate(table(folder, upper, answer(1).label), {"--format", "json", "--resamples", "0"})
          .out);
  EXPECT_EQ(result["top1"], 1.0);
}

TEST(Evaluate, UnmatchedClassesStopTheRun) {
  const TemporaryFolder folder;
  const std::string data = table(folder, "tabby cats", "zebra");
  const Finished finished = evaluate(data, {"--output", folder / "out"});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.out, "");
  expect_one_error(finished, {"2 of the data's classes", "'tabby cats' (near 'tabby cat')",
                              "'zebra'", "--label-map"});
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
  const std::string map = folder.write(
      "map.csv", "data,model\ntabby cats," + answer(0).label + "\nzebra," + answer(1).label + "\n");
  const Finished mapped = evaluate(data, {"--label-map", map, "--format", "json"});
  ASSERT_EQ(mapped.status, 0) << mapped.err;
  EXPECT_EQ(json::parse(mapped.out)["top1"], 1.0);
}

TEST(Evaluate, WritesItsFilesAndOverwritesNone) {
  const TemporaryFolder folder;
  const std::string wrong = answer(0).label == "fire truck" ? "school bus" : "fire truck";
  const std::string data = table(folder, wrong, answer(1).label);
  const Finished finished = evaluate(data, {"--output", folder / "out"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("top-1 accuracy                       0.5000"));
  EXPECT_THAT(finished.out, HasSubstr(wrong + " taken for " + answer(0).label));
  EXPECT_EQ(file_text(folder / "out/mistakes.jpg").substr(0, 2), "\xFF\xD8");
  for (const char* name : {"confusion.png", "reliability.png"})
    EXPECT_EQ(file_text(folder / ("out/" + std::string(name))).substr(1, 3), "PNG") << name;
  EXPECT_EQ(json::parse(file_text(folder / "out/evaluation.json"))["mistakes"][0]["truth"], wrong);
  EXPECT_THAT(file_text(folder / "out/predictions.csv"),
              HasSubstr("," + wrong + "," + answer(0).label + ","));
  EXPECT_THAT(file_text(folder / "out/confusion.csv"), HasSubstr("true class,"));
  EXPECT_THAT(file_text(folder / "out/evaluation.csv"), HasSubstr("top1,,0.5,"));
  EXPECT_THAT(file_text(folder / "out/evaluation.html"), HasSubstr("data:image/png;base64,"));
  const Finished again = evaluate(data, {"--output", folder / "out"});
  EXPECT_EQ(again.status, 2);
  expect_one_error(again, {"evaluation.json", "--force"});
  EXPECT_EQ(evaluate(data, {"--output", folder / "out", "--force"}).status, 0);
}

TEST(Evaluate, ABrokenPhotoIsNamedAndNotCounted) {
  const TemporaryFolder folder;
  std::string rows = file_text(table(folder, answer(0).label, answer(1).label));
  rows += golden("images/bad/truncated.jpg") + "," + answer(0).label + ",val\n";
  const Finished finished = evaluate(folder.write("broken.csv", rows), {"--format", "json"});
  EXPECT_EQ(finished.status, 1);
  expect_one_error(finished, {"truncated.jpg"});
  const json result = json::parse(finished.out);
  EXPECT_EQ(result["photos"], 2);
  EXPECT_EQ(result["failed"], 1);
  EXPECT_EQ(result["top1"], 1.0);
}

TEST(Evaluate, ComparesTwoModels) {
  const TemporaryFolder folder;
  const Finished finished =
      evaluate(table(folder, answer(0).label, answer(1).label),
               {"--format", "json", "--compare", golden("models/hf-vit-v5keys")});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json comparison = json::parse(finished.out)["comparison"];
  EXPECT_EQ(comparison["photos"], 2);
  EXPECT_EQ(comparison["top1"][0], 1.0);
}

TEST(Evaluate, SeveralLabelsAPhoto) {
  const TemporaryFolder folder;
  const std::vector<std::string> photos = golden_photos();
  const json first{{"path", photos[0]}, {"labels", {"tabby cat", "fire truck"}}};
  const json second{{"path", photos[1]}, {"labels", {"school bus"}}};
  const Finished finished = evaluate(
      folder.write("t.jsonl", first.dump() + "\n" + second.dump() + "\n"), {"--format", "json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json result = json::parse(finished.out);
  EXPECT_TRUE(result["multi_label"]);
  EXPECT_GT(result["map"], 0);
  EXPECT_FALSE(result.contains("top1"));
}

TEST(Evaluate, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  const std::string data = table(folder, answer(0).label, answer(1).label);
  const struct {
    std::vector<std::string> arguments;
    std::vector<std::string> parts;
  } cases[] = {{{"evaluate", "--model", "m"}, {"no data is given"}},
               {{"evaluate", "--data", data}, {"no model is given"}},
               {{"evaluate", "--data", folder / "none", "--model", "m"}, {"none"}},
               {{"evaluate", "--data", data, "--model", "m", "--split", "test"},
                {"no test split", "2 validation"}}};
  for (const auto& test : cases) {
    const Finished finished = run_program(test.arguments);
    EXPECT_EQ(finished.status, 2);
    expect_one_error(finished, test.parts);
  }
}

}  // namespace
}  // namespace vitascope::tests
