#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/golden_logits.h"
#include "tests/cli/run_program.h"

namespace vitascope::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<json> json_lines(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

/// A model's folder or file, the file that holds what Python gave, and what else must be said.
struct Case {
  const char* model;
  const char* expected;
  std::vector<std::string> flags = {};
};

void PrintTo(const Case& test_case, std::ostream* stream) { *stream << test_case.model; }

class ClassifyGolden : public testing::TestWithParam<Case> {};

TEST_P(ClassifyGolden, ProbabilitiesAreThoseOfPython) {
  const Case& test = GetParam();
  const auto stored = weights::read_safetensors(golden(test.expected));
  const Values logits = values_of(stored, "logits");
  std::vector<std::string> arguments{"classify", "--format", "json",    "--quiet",
                                     "--top",    "1000",     "--model", golden(test.model)};
  for (const std::string& photo : golden_photos()) arguments.push_back(photo);
  arguments.insert(arguments.end(), test.flags.begin(), test.flags.end());
  const Finished finished = run_program(arguments);
  ASSERT_EQ(finished.status, 0) << finished.err;
  const std::vector<json> lines = json_lines(finished.out);
  ASSERT_EQ(lines.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(lines[i]["path"], golden_photos()[i]);
    const std::vector<double> expected = softmax(logits.row(i));
    ASSERT_EQ(lines[i]["predictions"].size(), expected.size());
    double previous = 1;
    for (const json& prediction : lines[i]["predictions"]) {
      const double probability = prediction["probability"];
      EXPECT_NEAR(probability, expected.at(prediction["index"]), 1e-4);
      EXPECT_LE(probability, previous);
      previous = probability;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    EveryFamily, ClassifyGolden,
    testing::Values(
        Case{"models/hf-vit", "models/hf-vit/expected.safetensors"},
        Case{"models/hf-vit-v4keys", "models/hf-vit/expected.safetensors"},
        Case{"models/hf-vit-v5keys", "models/hf-vit/expected.safetensors"},
        Case{"models/hf-vit-sharded", "models/hf-vit/expected.safetensors"},
        Case{"models/hf-vit-bf16", "models/hf-vit-bf16/expected.safetensors"},
        Case{"models/hf-vit-fp16", "models/hf-vit-fp16/expected.safetensors"},
        Case{"models/hf-deit-distilled", "models/hf-deit-distilled/expected.safetensors"},
        Case{"models/hf-dinov2", "models/hf-dinov2/expected.safetensors"},
        Case{"models/hf-dinov2-reg-swiglu", "models/hf-dinov2-reg-swiglu/expected.safetensors"},
        Case{"models/timm-vit", "models/timm-vit/expected.safetensors"},
        Case{"models/timm-vit",
             "models/timm-resized/expected_up.safetensors",
             {"--input-size", "48"}},
        Case{"models/timm-deit3-pth/model.pth", "models/timm-deit3-pth/expected.safetensors"},
        Case{"models/timm-deit3-pth/checkpoint-7.pth",
             "models/timm-deit3-pth/expected.safetensors"},
        Case{"models/timm-vit-gap", "models/timm-vit-gap/expected.safetensors"},
        Case{"models/timm-vit-gap-cls", "models/timm-vit-gap-cls/expected.safetensors"},
        Case{"models/hf-vit",
             "models/hf-vit-rect/expected.safetensors",
             {"--resize", "squash:48x32", "--input-size", "48x32"}}));

Finished classify(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"classify", "--quiet", "--model", golden("models/hf-vit")});
  return run_program(std::move(arguments));
}

TEST(Classify, SaysSizesUprightAndTimes) {
  const Finished finished = classify({"--format", "json", golden("images/exif_6.jpg")});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json line = json::parse(finished.out);
  const json manifest = json::parse(file_text(golden("images/manifest.json")));
  json size;
  for (const json& file : manifest["files"]) {
    if (file["file"] == "exif_6.jpg") size = file["size"];
  }
  EXPECT_EQ(line["size"], size);
  EXPECT_EQ(line["predictions"].size(), 5u);
  for (const char* key : {"decode_ms", "prepare_ms", "model_ms"}) {
    EXPECT_GT(line["timing"][key].get<double>(), 0) << key;
  }
}

TEST(Classify, TextPutsTheLabelFirstAndAlignsWithoutBarsInAPipe) {
  const Finished finished = classify({"--top", "2", golden("images/rgb.png")});
  ASSERT_EQ(finished.status, 0) << finished.err;
  std::istringstream lines(finished.out);
  std::string path, first, second;
  std::getline(lines, path);
  std::getline(lines, first);
  std::getline(lines, second);
  EXPECT_EQ(path, golden("images/rgb.png"));
  EXPECT_EQ(first.size(), second.size());
  EXPECT_EQ(first.rfind("  ", 0), 0u);
  EXPECT_EQ(finished.out.find("█"), std::string::npos);
}

TEST(Classify, CsvHasAHeaderAndARowForEachPrediction) {
  const Finished finished = classify(
      {"--top", "3", "--format", "csv", golden("images/rgb.png"), golden("images/rgb.bmp")});
  ASSERT_EQ(finished.status, 0) << finished.err;
  std::istringstream lines(finished.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "path,width,height,rank,index,label,probability");
  int rows = 0;
  while (std::getline(lines, line)) ++rows;
  EXPECT_EQ(rows, 6);
}

TEST(Classify, ThresholdLeavesOutTheUnlikely) {
  const Finished finished =
      classify({"--threshold", "1", "--format", "json", golden("images/rgb.png")});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_TRUE(json::parse(finished.out)["predictions"].empty());
}

TEST(Classify, OrderIsThatOfTheInputsWhateverTheBatches) {
  const std::vector<std::string> photos{golden("images/rgb_lzw.tif"), golden("images/gray.jpg"),
                                        golden("images/still.gif"), golden("images/rgb.png"),
                                        golden("images/lossy.webp")};
  for (const char* batch : {"1", "2", "8"}) {
    std::vector<std::string> arguments{"--format", "csv", "--batch-size", batch};
    arguments.insert(arguments.end(), photos.begin(), photos.end());
    const Finished finished = classify(arguments);
    ASSERT_EQ(finished.status, 0) << finished.err;
    std::size_t position = 0;
    for (const std::string& photo : photos) {
      const std::size_t found = finished.out.find(photo, position);
      ASSERT_NE(found, std::string::npos) << photo;
      position = found;
    }
  }
}

TEST(Classify, BadFilesAreNamedAndSkippedAndTheRestIsDone) {
  const Finished finished =
      classify({"--format", "json", golden("images/bad/text.jpg"), golden("images/rgb.png"),
                golden("images/bad/truncated.jpg"), golden("images/bad/huge_header.png"),
                golden("images/bad/empty.jpg"), golden("images/bad/garbage_head.jpg"),
                golden("images/rgb.bmp")});
  EXPECT_EQ(finished.status, 1);
  const std::vector<json> lines = json_lines(finished.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["path"], golden("images/rgb.png"));
  EXPECT_EQ(lines[1]["path"], golden("images/rgb.bmp"));
  const std::vector<std::string> errors = finished.errors();
  ASSERT_EQ(errors.size(), 5u) << finished.err;
  const char* names[] = {"text.jpg", "truncated.jpg", "huge_header.png", "empty.jpg",
                         "garbage_head.jpg"};
  for (std::size_t i = 0; i < errors.size(); ++i) {
    EXPECT_EQ(errors[i].rfind("vitascope: error: " + golden("images/bad/") + names[i] + ": ", 0),
              0u)
        << errors[i];
  }
}

/// With --output too, where results go through a file of their own.
TEST(Classify, AFailureIsNamedOnce) {
  const TemporaryFolder folder;
  const Finished finished =
      classify({"--output", folder / "results.csv", "--format", "csv", golden("images/rgb.png"),
                golden("images/bad/text.jpg"), folder / "missing.jpg"});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.errors().size(), 2u) << finished.err;
}

TEST(Classify, AllowTruncatedTurnsDamageIntoAWarning) {
  const Finished finished =
      run_program({"classify", "--allow-truncated", "--model", golden("models/hf-vit"),
                   golden("images/bad/truncated.jpg")});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.err, HasSubstr("vitascope: warning: " + golden("images/bad/truncated.jpg")));
}

TEST(Classify, FoldersWithoutPicturesAndMissingFilesAreFailedInputs) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "empty");
  const Finished finished = classify(
      {folder / "empty", folder / "none.jpg", golden("images/rgb.png"), "--format", "json"});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(json_lines(finished.out).size(), 1u);
  ASSERT_EQ(finished.errors().size(), 2u) << finished.err;
  EXPECT_THAT(finished.errors()[0], HasSubstr("empty: no pictures"));
  EXPECT_THAT(finished.errors()[1], HasSubstr("none.jpg: no such file"));
}

TEST(Classify, TakesFoldersGlobsAndAListOnStdin) {
  const TemporaryFolder folder;
  std::filesystem::copy_file(golden("images/rgb.png"), folder / "photo 10.png");
  std::filesystem::copy_file(golden("images/rgb.png"), folder / "photo 9.PNG");
  folder.write("notes.txt", "no picture");
  Invocation invocation;
  invocation.arguments = {"classify", "--quiet", "--model", golden("models/hf-vit"),
                          "--format", "json",    ".",       "photo*0.png",
                          "-"};
  invocation.folder = folder.path();
  invocation.input = "photo 9.PNG\r\n\nphoto 10.png";
  const Finished finished = run_program(invocation);
  ASSERT_EQ(finished.status, 0) << finished.err;
  std::vector<std::string> paths;
  for (const json& line : json_lines(finished.out)) paths.push_back(line["path"]);
  EXPECT_THAT(paths, testing::ElementsAre("./photo 9.PNG", "./photo 10.png", "photo 10.png",
                                          "photo 9.PNG", "photo 10.png"));
}

TEST(Classify, SaveHoldsWhatTheModelSawAndGave) {
  const TemporaryFolder folder;
  const std::string file = folder / "saved.safetensors";
  std::vector<std::string> arguments{"--save", file, golden("images/bad/text.jpg")};
  for (const std::string& photo : golden_photos()) arguments.push_back(photo);
  EXPECT_EQ(classify(arguments).status, 1);
  const auto saved = weights::read_safetensors(file);
  const auto expected = weights::read_safetensors(golden("models/hf-vit/expected.safetensors"));
  for (const char* name : {"pixel_values", "logits"}) {
    const Values ours = values_of(saved, name), theirs = values_of(expected, name);
    EXPECT_EQ(ours.shape, theirs.shape) << name;
    EXPECT_LT(difference(ours.numbers, theirs.numbers), 2e-5) << name;
  }
  // The head of this family sees the class token after the final norm.
  const Values hidden = values_of(expected, "last_hidden_state"),
               features = values_of(saved, "features");
  ASSERT_EQ(features.shape, (std::vector<std::int64_t>{2, hidden.shape[2]}));
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<float> token = hidden.row(i);
    token.resize(static_cast<std::size_t>(hidden.shape[2]));
    EXPECT_LT(difference(features.row(i), token), 1e-4);
  }
  EXPECT_EQ(json::parse(saved.metadata.at("paths")), json(golden_photos()));
  EXPECT_EQ(saved.metadata.at("model"), golden("models/hf-vit"));
}

TEST(Classify, SaveOverwritesOnlyWithForce) {
  const TemporaryFolder folder;
  const std::string file = folder.write("saved.safetensors", "precious");
  const Finished refused = classify({"--save", file, golden("images/rgb.png")});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.out, "");
  expect_one_error(refused, {"saved.safetensors", "--force"});
  EXPECT_EQ(file_text(file), "precious");
  EXPECT_EQ(classify({"--force", "--save", file, golden("images/rgb.png")}).status, 0);
  EXPECT_NO_THROW(weights::read_safetensors(file));
}

/// An uncompressed picture of 24 bits a pixel; `seed` chooses its colours.
std::string bitmap(unsigned width, unsigned height, unsigned seed) {
  const auto little = [](std::uint32_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
    return text;
  };
  const std::uint32_t pixels = width * height * 3;  // rows are multiples of four bytes here
  std::string file = "BM" + little(54 + pixels, 4) + little(0, 4) + little(54, 4) + little(40, 4) +
                     little(width, 4) + little(height, 4) + little(1, 2) + little(24, 2) +
                     little(0, 4) + little(pixels, 4) + std::string(16, '\0');
  for (std::uint32_t i = 0; i < pixels; ++i) file += static_cast<char>((i * seed) >> 3 & 0xFF);
  return file;
}

TEST(Classify, PhotosOfSeveralSizesAnswerAsEachWouldAlone) {
  const TemporaryFolder folder;
  const std::vector<std::string> photos{
      folder.write("a.bmp", bitmap(32, 32, 7)), folder.write("b.bmp", bitmap(48, 32, 11)),
      folder.write("c.bmp", bitmap(32, 32, 13)), golden("images/odd_1x1.png")};
  std::vector<std::string> together{"--resize", "none", "--format", "json"};
  together.insert(together.end(), photos.begin(), photos.end());
  const Finished finished = classify(together);
  EXPECT_EQ(finished.status, 1);
  expect_one_error(finished, {"odd_1x1.png", "8"});
  const std::vector<json> lines = json_lines(finished.out);
  ASSERT_EQ(lines.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const json alone =
        json::parse(classify({"--resize", "none", "--format", "json", photos[i]}).out);
    EXPECT_EQ(lines[i]["path"], photos[i]);
    ASSERT_EQ(lines[i]["predictions"].size(), alone["predictions"].size());
    for (std::size_t k = 0; k < alone["predictions"].size(); ++k) {
      const json &one = alone["predictions"][k], &other = lines[i]["predictions"][k];
      EXPECT_EQ(one["index"], other["index"]);
      EXPECT_NEAR(one["probability"].get<double>(), other["probability"].get<double>(), 1e-5);
    }
  }
  EXPECT_NE(lines[0]["predictions"], lines[2]["predictions"]);
}

TEST(Classify, SaveHoldsPhotosOfOneSizeOnly) {
  const TemporaryFolder folder;
  const std::string saved = folder / "saved.safetensors";
  const Finished finished =
      classify({"--resize", "none", "--save", saved, folder.write("a.bmp", bitmap(32, 32, 7)),
                folder.write("b.bmp", bitmap(48, 32, 11))});
  EXPECT_EQ(finished.status, 1);
  expect_one_error(finished, {"b.bmp", "[3, 32, 48]", "[3, 32, 32]"});
  EXPECT_EQ(values_of(weights::read_safetensors(saved), "pixel_values").shape[0], 1);
}

TEST(Classify, ManyLabelsMayHoldOnAMultiLabelModel) {
  const TemporaryFolder folder;
  std::filesystem::copy(golden("models/hf-vit"), folder / "model");
  json config = json::parse(file_text(golden("models/hf-vit/config.json")));
  config["problem_type"] = "multi_label_classification";
  folder.write("model/config.json", config.dump());
  const auto stored = weights::read_safetensors(golden("models/hf-vit/expected.safetensors"));
  const Values logits = values_of(stored, "logits");
  const Finished finished = run_program({"classify", "--quiet", "--format", "json", "--model",
                                         folder / "model", golden("images/rgb_plain.jpg")});
  ASSERT_EQ(finished.status, 0) << finished.err;
  std::map<int, double> expected;
  const std::vector<float> row = logits.row(0);
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double probability = 1 / (1 + std::exp(-double(row[i])));
    if (probability >= 0.5) expected[static_cast<int>(i)] = probability;
  }
  const json predictions = json::parse(finished.out)["predictions"];
  ASSERT_EQ(predictions.size(), expected.size());
  for (const json& prediction : predictions) {
    EXPECT_NEAR(prediction["probability"].get<double>(), expected.at(prediction["index"]), 1e-4);
  }
}

TEST(Classify, ControlCharactersOfLabelsAreEscaped) {
  const TemporaryFolder folder;
  json config = json::parse(file_text(golden("models/hf-vit/config.json")));
  const std::size_t classes = config["id2label"].size();
  std::string labels;
  for (std::size_t i = 0; i < classes; ++i) labels += "=\x1b[31mred " + std::to_string(i) + "\n";
  const std::string file = folder.write("labels.txt", labels);
  for (const char* format : {"text", "csv"}) {
    const Finished finished =
        classify({"--labels", file, "--format", format, golden("images/rgb.png")});
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(finished.out.find('\x1b'), std::string::npos) << format;
    EXPECT_THAT(finished.out, HasSubstr("\\x1B[31mred")) << format;
  }
  EXPECT_THAT(classify({"--labels", file, "--format", "csv", golden("images/rgb.png")}).out,
              HasSubstr(",'=\\x1B"));
}

TEST(Classify, FileNamesOfAnyBytesAreEscapedButFound) {
  const TemporaryFolder folder;
  const std::string name = folder / "line\nbreak\x1b[2J.png";
  std::filesystem::copy_file(golden("images/rgb.png"), name);
  const Finished finished = classify({folder.path()});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("line\\nbreak\\x1B[2J.png\n"));
}

TEST(Classify, ResultsThatCantBeWrittenAreAFailure) {
  Invocation invocation;
  invocation.arguments = {"classify", "--quiet", "--model", golden("models/hf-vit"),
                          golden("images/rgb.png")};
  invocation.stdout_to_full_disk = true;
  const Finished finished = run_program(invocation);
  EXPECT_EQ(finished.status, 3);
  expect_one_error(finished, {"standard output", "No space left"});
}

}  // namespace
}  // namespace vitascope::tests
