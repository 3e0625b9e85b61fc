#include "app/commands/convert.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/app/commands/run_command.h"
#include "tests/app/reference_file.h"
#include "tests/golden.h"
#include "vit/error.h"
#include "vit/weights/model_directory.h"

namespace vitascope::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::golden;
using tests::run_command;

std::string fresh(const std::string& name) {
  const std::string folder = tests::scratch(name);
  std::filesystem::remove_all(folder);
  return folder;
}

// Largest difference between Python's logits for the original and ours for the written model.
double logits_off(const std::string& folder, const std::string& original) {
  const tests::Tensors expected =
      tests::read_tensors(golden("models/" + original + "/expected.safetensors"));
  const weights::Model model = weights::open_model(folder);
  const at::Tensor logits = model.network.forward(expected.at("pixel_values")).logits;
  return (logits - expected.at("logits")).abs().max().item<double>();
}

TEST(Convert, WritesEitherLayoutWithTheSameLogits) {
  const std::pair<const char*, const char*> models[] = {{"hf-vit", "timm"},
                                                        {"hf-vit", "transformers"},
                                                        {"timm-vit", "timm"},
                                                        {"timm-deit3-pth/model.pth", "timm"},
                                                        {"hf-dinov2", "transformers"}};
  for (const auto& [model, layout] : models) {
    const std::string folder = fresh("out");
    const auto result =
        run_command(declare_convert, {"--model", golden(std::string("models/") + model), "--output",
                                      folder, "--layout", layout});
    EXPECT_EQ(result.status, 0);
    const std::string name = model;
    EXPECT_LT(logits_off(folder, name.substr(0, name.find('/'))), 2e-5) << model << layout;
  }
}

TEST(Convert, SaysHowToLoadItInPython) {
  const std::string folder = fresh("out");
  const auto timm = run_command(declare_convert, {"--model", golden("models/hf-vit"), "--output",
                                                  folder, "--layout", "timm"});
  EXPECT_THAT(timm.out,
              AllOf(HasSubstr(folder), HasSubstr("timm.create_model(\"local-dir:" + folder)));
  const auto transformers =
      run_command(declare_convert, {"--model", golden("models/hf-vit"), "--output", folder,
                                    "--layout", "transformers", "--force"});
  EXPECT_THAT(transformers.out,
              HasSubstr("AutoModelForImageClassification.from_pretrained(\"" + folder));
}

TEST(Convert, OverwritesNothingUnasked) {
  const std::string folder = fresh("out");
  const std::vector<std::string> arguments{"--model", golden("models/hf-vit"), "--output", folder};
  EXPECT_EQ(run_command(declare_convert, arguments).status, 0);
  EXPECT_THROW(run_command(declare_convert, arguments), UsageError);
}

TEST(Convert, NeedsAnOutput) {
  EXPECT_THROW(run_command(declare_convert, {"--model", golden("models/hf-vit")}), UsageError);
}

}  // namespace
}  // namespace vitascope::app
