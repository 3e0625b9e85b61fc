#include "app/options.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>

#include "tests/golden.h"
#include "vit/error.h"

namespace vitascope::app {
namespace {

using testing::HasSubstr;
using tests::golden;

TEST(FindPhotos, WithoutInputsIsAMistake) {
  int failed = 0;
  EXPECT_THROW(find_photos({}, failed), UsageError);
}

TEST(FindPhotos, CountsAndPrintsWhatIsMissing) {
  PhotoOptions options;
  options.inputs = {golden("images/rgb.png"), "/no/such.jpg"};
  int failed = 2;
  testing::internal::CaptureStderr();
  const std::vector<std::string> photos = find_photos(options, failed);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("vitascope: error: /no/such.jpg: "));
  EXPECT_EQ(photos, std::vector<std::string>{golden("images/rgb.png")});
  EXPECT_EQ(failed, 3);
}

TEST(OpenOptions, CarryWhatTheFlagsSay) {
  ModelOptions model;
  model.architecture = "vit_tiny_patch16_224";
  model.labels = "l.txt";
  model.preprocessor = "p.json";
  model.input_size = "48x32";
  RunOptions run;
  const weights::OpenOptions open = open_options(model, run);
  EXPECT_EQ(open.architecture, model.architecture);
  EXPECT_EQ(open.labels_file, "l.txt");
  EXPECT_EQ(open.preprocessor_file, "p.json");
  EXPECT_EQ(open.input_size, (image::Size{.width = 32, .height = 48}));
  EXPECT_EQ(open.precision, at::kFloat);
  run.precision = "bf16";
  EXPECT_EQ(open_options({}, run).precision, at::kBFloat16);
  EXPECT_EQ(open_options({}, run).input_size, std::nullopt);
}

TEST(SpecificationFlags, ReplaceOnlyWhatTheySay) {
  weights::Model model;
  model.specification.emplace();
  model.specification->size = {224, 224};
  model.specification->source = "preprocessor_config.json";
  ModelOptions flags;
  flags.crop = "196";
  flags.mean = "0.1,0.2,0.3";
  apply_specification_flags(flags, model);
  image::Specification expected;
  expected.size = {224, 224};
  expected.crop = image::Size{196, 196};
  expected.mean = {0.1f, 0.2f, 0.3f};
  expected.source = model.specification->source;
  EXPECT_EQ(*model.specification, expected);
  EXPECT_THAT(expected.source, HasSubstr("preprocessor_config.json, --"));
}

TEST(SpecificationFlags, MustSayAllWhereTheFilesSayNothing) {
  weights::Model model;
  model.specification_missing = "no preprocessor";
  ModelOptions flags;
  apply_specification_flags(flags, model);
  EXPECT_FALSE(model.specification);
  EXPECT_THROW(require_specification(model), UsageError);
  flags.resize = "shortest:36";
  flags.interpolation = "bicubic";
  flags.mean = "0.5,0.5,0.5";
  EXPECT_THAT([&] { apply_specification_flags(flags, model); },
              testing::ThrowsMessage<UsageError>(HasSubstr("but not --std")));
  flags.std = "0.25,0.25,0.25";
  apply_specification_flags(flags, model);
  const image::Specification& specification = require_specification(model);
  EXPECT_EQ(specification.resize, image::ResizeMode::shortest_edge);
  EXPECT_EQ(specification.edge, 36);
  EXPECT_EQ(specification.filter, image::Filter::bicubic);
  EXPECT_EQ(specification.crop, std::nullopt);
}

TEST(ApplyThreads, SetsLibTorchsNumberAndMayBeCalledAgain) {
  RunOptions run;
  run.threads = 1;
  EXPECT_EQ(apply_threads(run), 1);
  EXPECT_EQ(at::get_num_threads(), 1);
  run.threads = 3;
  EXPECT_EQ(apply_threads(run), 3);
  EXPECT_EQ(at::get_num_threads(), 3);
  EXPECT_EQ(at::get_num_interop_threads(), 1);
  run.threads = 0;
  EXPECT_EQ(apply_threads(run), available_cores());
}

TEST(OpenModel, WithoutANameIsAMistake) { EXPECT_THROW(open_model({}, {}, false), UsageError); }

}  // namespace
}  // namespace vitascope::app
