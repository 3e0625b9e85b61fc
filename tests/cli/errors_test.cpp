#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/golden_logits.h"
#include "tests/cli/run_program.h"

namespace vitascope::tests {
namespace {

using nlohmann::json;

const std::string& photo() {
  static const std::string path = golden("images/rgb.png");
  return path;
}

const std::string& model() {
  static const std::string path = golden("models/hf-vit");
  return path;
}

/// What was typed, and what the one line must hold; the status is 2.
struct Mistake {
  const char* name;
  std::vector<std::string> arguments, parts;
};

void PrintTo(const Mistake& mistake, std::ostream* stream) { *stream << mistake.name; }

class UsageMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(UsageMistakes, AreAnsweredInOneLineThatHelps) {
  const Finished finished = run_program(GetParam().arguments);
  EXPECT_EQ(finished.status, 2) << finished.err;
  EXPECT_EQ(finished.out, "");
  expect_one_error(finished, GetParam().parts);
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, UsageMistakes,
    testing::Values(
        Mistake{"nothing", {}, {"no command", "vitascope --help"}},
        Mistake{"command", {"clasify", photo()}, {"'clasify'", "did you mean classify?"}},
        Mistake{"far command", {"frobnicate"}, {"'frobnicate'", "classify", "benchmark"}},
        Mistake{
            "option", {"classify", photo(), "--tops", "3"}, {"'--tops'", "did you mean --top?"}},
        Mistake{"option with value",
                {"classify", photo(), "--batchsize=3"},
                {"'--batchsize'", "did you mean --batch-size?"}},
        Mistake{"far option", {"classify", photo(), "--qwertz"}, {"'--qwertz'", "classify --help"}},
        Mistake{"option of the program", {"--frob", "classify"}, {"'--frob'", "vitascope --help"}},
        Mistake{"no value", {"classify", photo(), "--top"}, {"--top", "needs a value", "K"}},
        Mistake{"no number",
                {"classify", photo(), "--top", "many"},
                {"--top", "'many'", "whole number"}},
        Mistake{"out of range", {"classify", photo(), "--top", "0"}, {"--top", "'0'", "from 1"}},
        Mistake{"negative", {"classify", photo(), "--top", "-3"}, {"--top", "'-3'"}},
        Mistake{"fraction", {"classify", photo(), "--top", "2.5"}, {"--top", "'2.5'"}},
        Mistake{
            "not finite", {"classify", photo(), "--threshold", "nan"}, {"--threshold", "'nan'"}},
        Mistake{"choice",
                {"classify", photo(), "--format", "jsn"},
                {"--format", "did you mean 'json'?"}},
        Mistake{"flag with value", {"classify", photo(), "--recursive=maybe"}, {"--recursive"}},
        Mistake{
            "device", {"classify", photo(), "--device", "gpu"}, {"--device", "'gpu'", "cuda:N"}},
        Mistake{"threads", {"classify", photo(), "--threads", "lots"}, {"--threads", "'lots'"}},
        Mistake{
            "resize", {"classify", photo(), "--resize", "squish:224"}, {"--resize", "squash:224"}},
        Mistake{"mean", {"classify", photo(), "--mean", "0.5,0.5"}, {"--mean", "three numbers"}},
        Mistake{"size", {"classify", photo(), "--input-size", "0x3"}, {"--input-size", "'0x3'"}},
        Mistake{"no model", {"classify", photo()}, {"no model", "--model"}},
        Mistake{"no photos", {"classify", "--model", model()}, {"no photos"}},
        Mistake{"control characters", {"classify", "--a\nb\x1b[2J"}, {"--a\\nb\\x1B[2J"}},
        Mistake{"completion", {"--completion", "fish"}, {"--completion", "bash"}}));

INSTANTIATE_TEST_SUITE_P(
    Models, UsageMistakes,
    testing::Values(
        Mistake{
            "not there", {"classify", photo(), "--model", "/no/such/model"}, {"/no/such/model"}},
        Mistake{"a folder without weights",
                {"classify", photo(), "--model", golden("images")},
                {"images"}},
        Mistake{"a photo", {"classify", photo(), "--model", photo()}, {"rgb.png"}},
        Mistake{"a size that patches don't fit",
                {"classify", photo(), "--model", model(), "--input-size", "33"},
                {"33", "8"}},
        Mistake{
            "labels of another number",
            {"classify", photo(), "--model", model(), "--labels", golden("images/manifest.json")},
            {"manifest.json"}},
        Mistake{"no labels file",
                {"classify", photo(), "--model", model(), "--labels", "/no/such/labels.txt"},
                {"/no/such/labels.txt"}},
        Mistake{"no preprocessor",
                {"classify", photo(), "--model", model(), "--preprocessor", "/no/such.json"},
                {"/no/such.json"}},
        Mistake{
            "unwritable output",
            {"classify", photo(), "--model", model(), "--save", "/no/such/folder/x.safetensors"},
            {"/no/such/folder"}},
        Mistake{"output that is a folder",
                {"classify", photo(), "--model", model(), "--force", "--save", golden("images")},
                {"images"}}));

/// A copy of the golden model to be spoilt.
std::string copied_model(const TemporaryFolder& folder) {
  std::filesystem::copy(model(), folder / "model");
  return folder / "model";
}

TEST(ModelMistakes, TwoWeightFilesThatDifferAreNotChosenBetween) {
  const TemporaryFolder folder;
  const std::string copy = copied_model(folder);
  std::filesystem::copy_file(golden("models/timm-deit3-pth/model.pth"),
                             copy + "/pytorch_model.bin");
  const Finished finished = run_program({"classify", photo(), "--model", copy});
  EXPECT_EQ(finished.status, 2);
  expect_one_error(finished, {"model.safetensors", "pytorch_model.bin"});
}

TEST(ModelMistakes, ATruncatedWeightFileIsNamed) {
  const TemporaryFolder folder;
  const std::string copy = copied_model(folder);
  std::filesystem::resize_file(copy + "/model.safetensors", 1000);
  const Finished finished = run_program({"classify", photo(), "--model", copy});
  EXPECT_EQ(finished.status, 2);
  expect_one_error(finished, {"model.safetensors"});
}

TEST(ModelMistakes, AMissingSpecificationNamesTheFlagsThatGiveIt) {
  const TemporaryFolder folder;
  const std::string copy = copied_model(folder);
  std::filesystem::remove(copy + "/preprocessor_config.json");
  const Finished silent = run_program({"classify", photo(), "--model", copy});
  EXPECT_EQ(silent.status, 2);
  expect_one_error(silent, {"preprocessor_config.json"});
  const Finished half = run_program(
      {"classify", photo(), "--model", copy, "--resize", "squash:32", "--std", "0.5,0.5,0.5"});
  EXPECT_EQ(half.status, 2);
  expect_one_error(half, {"--resize", "--interpolation, --mean"});
}

TEST(ModelMistakes, FlagsCanSayAllThatTheFilesLack) {
  const TemporaryFolder folder;
  const std::string copy = copied_model(folder);
  std::filesystem::remove(copy + "/preprocessor_config.json");
  const std::vector<std::string> flags{"--resize", "squash:32",   "--interpolation", "bilinear",
                                       "--mean",   "0.5,0.5,0.5", "--std",           "0.5,0.5,0.5"};
  std::vector<std::string> arguments{"classify", photo(),   "--quiet", "--format",
                                     "csv",      "--model", copy};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  const Finished by_flags = run_program(arguments);
  EXPECT_EQ(by_flags.status, 0) << by_flags.err;
  EXPECT_EQ(
      by_flags.out,
      run_program({"classify", photo(), "--quiet", "--format", "csv", "--model", model()}).out);
}

TEST(ModelMistakes, ABackboneHasNoHeadAndSaysWhatToDo) {
  const TemporaryFolder folder;
  const std::string copy = copied_model(folder);
  json config = json::parse(file_text(copy + "/config.json"));
  config["architectures"] = {"ViTModel"};
  for (const char* key : {"id2label", "label2id", "problem_type"}) config.erase(key);
  folder.write("model/config.json", config.dump());
  auto stored = weights::read_safetensors(model() + "/model.safetensors");
  std::vector<weights::TensorToWrite> tensors;
  for (const auto& [name, tensor] : stored.tensors) {
    if (name.rfind("classifier.", 0) != 0) {
      tensors.push_back({name, tensor.dtype, tensor.shape, tensor.bytes});
    }
  }
  weights::write_safetensors(copy + "/model.safetensors", tensors, {{"format", "pt"}}, true);
  const Finished finished = run_program({"classify", photo(), "--model", copy});
  EXPECT_EQ(finished.status, 2);
  expect_one_error(finished, {"no classification head", "vitascope embed"});
  EXPECT_EQ(run_program({"embed", photo(), "--model", copy, "-o", folder / "e.npy"}).status, 0);
}

TEST(Device, CudaSaysInOneLineWhatIsMissing) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "this machine has a GPU";
  const Finished finished =
      run_program({"classify", photo(), "--model", model(), "--device", "cuda"});
  EXPECT_EQ(finished.status, 2);
  expect_one_error(finished, {"--device cuda"});
  const Finished automatic =
      run_program({"classify", photo(), "--model", model(), "--device", "auto", "-v"});
  EXPECT_EQ(automatic.status, 0);
  EXPECT_THAT(automatic.err, testing::HasSubstr("device: cpu, because "));
}

TEST(Help, NamesCommandsOptionsAndDefaults) {
  const Finished program = run_program({"--help"});
  EXPECT_EQ(program.status, 0);
  EXPECT_EQ(program.err, "");
  for (const char* command : {"classify", "embed", "info", "verify", "benchmark", "convert"}) {
    EXPECT_THAT(program.out, testing::HasSubstr(std::string("\n  ") + command + " "));
    const Finished finished = run_program({command, "--help"});
    EXPECT_EQ(finished.status, 0) << command;
    EXPECT_THAT(finished.out, testing::HasSubstr(std::string("usage: vitascope ") + command));
    EXPECT_THAT(finished.out, testing::HasSubstr("Example")) << command;
  }
  EXPECT_THAT(run_program({"classify", "--help"}).out, testing::HasSubstr("[default: fp32]"));
}

TEST(Help, VersionIsOneLine) {
  const Finished finished = run_program({"--version"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.out, testing::MatchesRegex("vitascope [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

}  // namespace
}  // namespace vitascope::tests
