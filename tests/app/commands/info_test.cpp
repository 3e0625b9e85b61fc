#include "app/commands/info.h"

#include <ATen/Version.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/commands/run_command.h"
#include "tests/app/reference_file.h"
#include "tests/golden.h"
#include "vit/error.h"

namespace vitascope::app {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using tests::golden;
using tests::run_command;

json info_json(const std::string& model) {
  return json::parse(
      run_command(declare_info, {"--model", golden("models/" + model), "--format", "json"}).out);
}

// Elements of all tensors of a model's file.
std::int64_t stored_elements(const std::string& model) {
  std::int64_t count = 0;
  for (const auto& [name, tensor] :
       tests::read_tensors(golden("models/" + model + "/model.safetensors"))) {
    count += tensor.numel();
  }
  return count;
}

TEST(Info, SaysWhatAModelIs) {
  const json info = info_json("hf-vit");
  EXPECT_EQ(info["family"], "vit");
  EXPECT_EQ(info["parameters"], stored_elements("hf-vit"));
  EXPECT_EQ(info["weight_bytes"], 4 * stored_elements("hf-vit"));
  EXPECT_EQ(info["depth"], 2);
  EXPECT_EQ(info["width"], 48);
  EXPECT_EQ(info["heads"], 4);
  EXPECT_EQ(info["patch"], 8);
  EXPECT_EQ(info["input_height"], 32);
  EXPECT_EQ(info["classes"], 5);
  EXPECT_EQ(info["labels"][2], "fire truck");
  EXPECT_EQ(info["key_style"], "transformers 4");
  EXPECT_EQ(info["stored_dtype"], "F32");
  EXPECT_THAT(info["files"].get<std::vector<std::string>>(),
              Contains(HasSubstr("model.safetensors")));
  EXPECT_TRUE(info["specification_missing"].is_null());
  EXPECT_THAT(info["specification"]["text"].get<std::string>(), HasSubstr("bilinear"));
}

// 17 tokens of width 48, MLP 64, patches of 8 x 8 x 3 pixels; a multiply-add counts as two.
TEST(Info, CountsTheOperationsOfAnImage) {
  const double block = 2.0 * 17 * (4 * 48 * 48 + 2 * 48 * 64) + 4.0 * 17 * 17 * 48;
  const double expected = 2.0 * 16 * 48 * 192 + 2 * block + 2.0 * 48 * 5;
  EXPECT_NEAR(info_json("hf-vit")["flops_per_image"].get<double>(), expected, 0.03 * expected);
}

TEST(Info, TextNamesEverything) {
  const std::string text = run_command(declare_info, {"--model", golden("models/timm-vit")}).out;
  EXPECT_THAT(text, AllOf(HasSubstr("2 blocks, width 48, 3 heads of 16"), HasSubstr("lighthouse"),
                          HasSubstr("..."), HasSubstr("bicubic"), HasSubstr("timm"),
                          HasSubstr("F32"), HasSubstr("model.safetensors"), HasSubstr("MFLOP")));
}

TEST(Info, AMissingSpecificationIsSaidNotFatal) {
  const std::string folder = tests::scratch("model");
  std::filesystem::create_directories(folder);
  for (const char* file : {"config.json", "model.safetensors"}) {
    std::filesystem::copy(golden(std::string("models/hf-vit/") + file), folder + "/" + file,
                          std::filesystem::copy_options::overwrite_existing);
  }
  const auto text = run_command(declare_info, {"--model", folder});
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.out, HasSubstr("preprocessor_config.json"));
  const json info =
      json::parse(run_command(declare_info, {"--model", folder, "--format", "json"}).out);
  EXPECT_TRUE(info["specification"].is_null());
  EXPECT_TRUE(info["specification_missing"].is_string());
}

TEST(Info, AloneSaysWhatTheMachineCanDo) {
  const json info = json::parse(run_command(declare_info, {"--format", "json"}).out);
  EXPECT_THAT(info["libtorch"].get<std::string>(), testing::StartsWith("2."));
  EXPECT_EQ(info["libtorch_cpu_capability"], at::get_cpu_capability());
  EXPECT_GE(info["cores"], 1);
  EXPECT_THAT(info["attention_backends"].get<std::vector<std::string>>(),
              testing::ElementsAre("auto", "fused", "sdpa", "math"));
  EXPECT_EQ(info["devices"][0], "cpu");
  EXPECT_THAT(run_command(declare_info, {}).out,
              AllOf(HasSubstr("LibTorch"), HasSubstr(at::get_cpu_capability())));
}

TEST(Info, AModelThatIsNotThereIsAnError) {
  EXPECT_THROW(run_command(declare_info, {"--model", "/no/such/model"}), InputError);
}

}  // namespace
}  // namespace vitascope::app
