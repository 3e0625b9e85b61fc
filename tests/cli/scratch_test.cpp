#include <gmock/gmock.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/cli/run_program.h"
#include "tests/golden.h"
#include "vit/random_numbers.h"

namespace vitascope::tests {
namespace {

using testing::HasSubstr;

constexpr int kSide = 8;
constexpr int kClasses = 4;

std::string idx(const std::vector<std::uint32_t>& shape, const std::string& values) {
  std::string text("\0\0\x08", 3);
  text += static_cast<char>(shape.size());
  for (const std::uint32_t side : shape) {
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(side >> shift & 255);
  }
  return text + values;
}

/// Pictures of noise with a bright square in the corner that is the class.
void write_split(const TemporaryFolder& folder, const std::string& name, std::uint32_t count) {
  RandomNumbers random(count);
  std::string pictures;
  std::string labels;
  for (std::uint32_t i = 0; i < count; ++i) {
    const int corner = static_cast<int>(random.below(kClasses));
    labels += static_cast<char>(corner);
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        const bool bright = (y < 4) == (corner < 2) && (x < 4) == (corner % 2 == 0);
        pictures += static_cast<char>(random.below(120) + (bright ? 120 : 0));
      }
    }
  }
  folder.write("data/" + name + "-images-idx3-ubyte", idx({count, kSide, kSide}, pictures));
  folder.write("data/" + name + "-labels-idx1-ubyte", idx({count}, labels));
}

std::vector<std::string> command(const TemporaryFolder& folder,
                                 const std::vector<std::string>& more = {}) {
  std::vector<std::string> all{"finetune",       "--scratch",
                               "--data",         folder / "data",
                               "--output",       folder / "run",
                               "--width",        "16",
                               "--depth",        "1",
                               "--heads",        "2",
                               "--stem",         "8,8",
                               "--epochs",       "4",
                               "--batch-size",   "16",
                               "--lr",           "5e-3",
                               "--head-lr",      "5e-3",
                               "--layer-decay",  "1",
                               "--crop-area",    "1",
                               "--flip",         "0",
                               "--threads",      "1",
                               "--val-fraction", "0.1"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(Scratch, LearnsASmallSetFromNothingAndOpensAgain) {
  const TemporaryFolder folder;
  write_split(folder, "train", 400);
  write_split(folder, "t10k", 100);
  const std::string run = folder / "run";
  const Finished finished = run_program(command(folder, {"--positions", "sincos"}));
  ASSERT_EQ(finished.status, 0) << finished.err;
  std::smatch found;
  ASSERT_TRUE(std::regex_search(finished.out, found, std::regex("test: accuracy ([0-9.]+)")))
      << finished.out;
  EXPECT_GE(std::stod(found[1]), 0.95);  // chance: 0.25

  const Finished evaluated = run_program({"evaluate", "--model", run, "--data", folder / "data",
                                          "--split", "test", "--format", "json", "--quiet"});
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  EXPECT_NEAR(nlohmann::json::parse(evaluated.out)["top1"], std::stod(found[1]), 1e-4);

  const Finished info = run_program({"info", "--model", run, "--format", "json"});
  ASSERT_EQ(info.status, 0) << info.err;
  const auto json = nlohmann::json::parse(info.out);
  EXPECT_EQ(json["family"], "vitascope");
  EXPECT_EQ(json["stem"], (std::vector<int>{8, 8}));
  EXPECT_EQ(json["input_height"], kSide);

  const std::string photo = golden("images/rgb.png");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"classify", photo},
        {"attend", photo, "--output", folder / "map.png"},
        {"attend", photo, "--method", "relevance", "--output", folder / "relevance.png"},
        {"embed", photo, "--output", folder / "features.npy"}}) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--model", run});
    const Finished opened = run_program(all);
    EXPECT_EQ(opened.status, 0) << arguments[0] << ": " << opened.err;
  }

  for (const char* layout : {"transformers", "timm"}) {
    const Finished converted = run_program(
        {"convert", "--model", run, "--output", folder / "converted", "--layout", layout});
    EXPECT_EQ(converted.status, 2);
    expect_one_error(converted, {layout, "can't express a stem of convolutions", "--layout"});
  }
  EXPECT_EQ(run_program({"convert", "--model", run, "--output", folder / "converted", "--layout",
                         "vitascope"})
                .status,
            0);
  EXPECT_TRUE(file_text(folder / "converted" + "/model.safetensors") ==
              file_text(run + "/model.safetensors"));
}

TEST(Scratch, AnArchitectureOfTimmBeginsWithRandomWeightsToo) {
  const TemporaryFolder folder;
  write_split(folder, "train", 60);
  const Finished finished = run_program(
      {"finetune", "--scratch", "--architecture", "test_vit", "--input-size", "32", "--data",
       folder / "data", "--output", folder / "run", "--epochs", "1", "--threads", "1"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(file_text(folder / "run" + "/config.json"), HasSubstr("\"hidden_size\": 64"));
}

TEST(Scratch, ContradictionsAreOneLine) {
  const TemporaryFolder folder;
  write_split(folder, "train", 60);
  const struct {
    std::vector<std::string> more;
    std::string part;
  } cases[] = {{{"--model", golden("models/hf-vit")}, "expected one of them"},
               {{"--architecture", "vit_tiny_patch16_224", "--width", "16"}, "expected no --width"},
               {{"--method", "lora"}, "expected full"},
               {{"--stem", "8"}, "the stem has 1 convolutions"},
               {{"--stem", "8,x"}, "no stem"},
               {{"--heads", "3"}, "a divisor of the width"},
               {{"--positions", "sincos", "--width", "18", "--heads", "2"}, "a multiple of 4"},
               {{"--input-size", "10"}, "a multiple of the patch edge"}};
  for (const auto& [more, part] : cases) {
    std::vector<std::string> all{"finetune", "--scratch",    "--data", folder / "data",
                                 "--output", folder / "run", "--quiet"};
    all.insert(all.end(), more.begin(), more.end());
    const Finished finished = run_program(all);
    EXPECT_EQ(finished.status, 2) << part;
    expect_one_error(finished, {part});
  }
  const Finished without =
      run_program({"finetune", "--model", golden("models/hf-vit"), "--data", folder / "data",
                   "--output", folder / "run", "--depth", "2"});
  EXPECT_EQ(without.status, 2);
  expect_one_error(without, {"--depth", "expected --scratch"});
}

}  // namespace
}  // namespace vitascope::tests
