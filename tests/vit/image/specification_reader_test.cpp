#include "vit/image/specification_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/golden.h"
#include "vit/error.h"

namespace vitascope::image {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Json vit() {
  return {{"image_processor_type", "ViTImageProcessor"},
          {"size", {{"height", 32}, {"width", 48}}},
          {"image_mean", {0.5, 0.25, 0.125}},
          {"image_std", 0.5}};
}

Json timm() {
  return {{"input_size", {3, 32, 32}},
          {"interpolation", "bicubic"},
          {"mean", {0.5, 0.5, 0.5}},
          {"std", {0.5, 0.5, 0.5}}};
}

std::string refusal(const std::function<void()>& read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string transformers_refusal(Json json, const char* key, const Json& value) {
  json[key] = value;
  return refusal([&] { specification_from_transformers(json, "preprocessor_config.json"); });
}

std::string timm_refusal(const char* key, const Json& value) {
  Json json = timm();
  json[key] = value;
  return refusal([&] { specification_from_timm(json, "config.json"); });
}

TEST(SpecificationReader, ReadsTheGoldenModels) {
  const auto read = [](const char* folder) {
    const std::string path =
        tests::golden(std::string("models/") + folder + "/preprocessor_config.json");
    return specification_from_transformers(read_json(path), path);
  };
  const Specification plain = read("hf-vit");
  EXPECT_EQ(plain.resize, ResizeMode::squash);
  EXPECT_EQ(plain.size, (Size{32, 32}));
  EXPECT_EQ(plain.filter, Filter::bilinear);
  EXPECT_EQ(plain.crop, std::nullopt);
  EXPECT_EQ(plain.crop_offset, CropOffset::floor);
  EXPECT_THAT(plain.source, HasSubstr("ViTImageProcessor"));

  Specification older = read("hf-vit-v4keys");  // size as one number, a feature extractor
  EXPECT_THAT(older.source, HasSubstr("ViTFeatureExtractor"));
  older.source = plain.source;
  EXPECT_EQ(older, plain);

  const Specification deit = read("hf-deit-distilled");
  EXPECT_EQ(deit.resize, ResizeMode::squash);
  EXPECT_EQ(deit.size, (Size{36, 36}));
  EXPECT_EQ(deit.crop, (Size{32, 32}));
  EXPECT_EQ(deit.filter, Filter::bicubic);

  const Specification dino = read("hf-dinov2");
  EXPECT_EQ(dino.resize, ResizeMode::shortest_edge);
  EXPECT_EQ(dino.edge, 48);
  EXPECT_EQ(dino.crop, (Size{42, 42}));
  EXPECT_FLOAT_EQ(dino.mean[1], 0.456f);
}

TEST(SpecificationReader, TakesTheDefaultsOfEachClass) {
  Json json = vit();
  Specification specification = specification_from_transformers(json, "p");
  EXPECT_EQ(specification.size, (Size{48, 32}));
  EXPECT_EQ(specification.filter, Filter::bilinear);
  EXPECT_TRUE(specification.rescale);
  EXPECT_EQ(specification.rescale_factor, 1.0 / 255);
  EXPECT_EQ(specification.mean, (std::array<float, 3>{0.5f, 0.25f, 0.125f}));
  EXPECT_EQ(specification.std, (std::array<float, 3>{0.5f, 0.5f, 0.5f}));

  json["size"] = 40;
  json["crop_size"] = 32;
  for (const char* twin :
       {"DeiTImageProcessor", "DeiTImageProcessorFast", "DeiTFeatureExtractor"}) {
    json["image_processor_type"] = twin;
    specification = specification_from_transformers(json, "p");
    EXPECT_EQ(specification.size, (Size{40, 40})) << twin;
    EXPECT_EQ(specification.crop, (Size{32, 32})) << twin;
    EXPECT_EQ(specification.filter, Filter::bicubic) << twin;
  }
  json["image_processor_type"] = "BitImageProcessorPil";
  specification = specification_from_transformers(json, "p");
  EXPECT_EQ(specification.resize, ResizeMode::shortest_edge);
  EXPECT_EQ(specification.edge, 40);
  EXPECT_EQ(specification.crop, (Size{32, 32}));
}

TEST(SpecificationReader, HonoursEverySwitch) {
  const Json json = {{"image_processor_type", "BitImageProcessor"},
                     {"do_resize", false},
                     {"do_center_crop", false},
                     {"do_rescale", false},
                     {"do_normalize", false}};
  const Specification specification = specification_from_transformers(json, "p");
  EXPECT_EQ(specification.resize, ResizeMode::none);
  EXPECT_EQ(specification.crop, std::nullopt);
  EXPECT_FALSE(specification.rescale);
  EXPECT_FALSE(specification.normalise);
}

TEST(SpecificationReader, GuessesTheClassOfEarlyFilesFromWhatTheyHold) {
  Json json = vit();
  json.erase("image_processor_type");
  EXPECT_EQ(specification_from_transformers(json, "p").filter, Filter::bilinear);
  json["size"] = {{"shortest_edge", 36}};
  json["crop_size"] = 32;
  EXPECT_EQ(specification_from_transformers(json, "p").edge, 36);
  json["size"] = 36;
  const Specification deit = specification_from_transformers(json, "p");
  EXPECT_EQ(deit.crop, (Size{32, 32}));
  EXPECT_THAT(deit.source, HasSubstr("DeiTImageProcessor, as no class is named"));
}

TEST(SpecificationReader, NamesAMissingKey) {
  for (const char* key : {"size", "image_mean", "image_std"})
    EXPECT_THAT(
        transformers_refusal(vit(), key, nullptr),
        AllOf(StartsWith("preprocessor_config.json"), HasSubstr(std::string("no '") + key)));
  EXPECT_THAT(transformers_refusal(vit(), "do_center_crop", true), HasSubstr("no 'crop_size'"));
  for (const char* key : {"input_size", "interpolation", "mean", "std"})
    EXPECT_THAT(timm_refusal(key, nullptr), HasSubstr(std::string("no '") + key));
}

TEST(SpecificationReader, NamesAnUnusableKey) {
  const auto refused = [](const char* key, const Json& value) {
    return transformers_refusal(vit(), key, value);
  };
  EXPECT_THAT(refused("size", "large"), HasSubstr("'size' is \"large\"; expected"));
  EXPECT_THAT(refused("size", 0), HasSubstr("1 to 16384"));
  EXPECT_THAT(refused("size", 16385), HasSubstr("1 to 16384"));
  EXPECT_THAT(refused("size", 224.5), HasSubstr("'size' is 224.5"));
  EXPECT_THAT(refused("size", {{"longest_edge", 224}}), HasSubstr("'size'"));
  EXPECT_THAT(refused("size", {{"shortest_edge", 224}, {"longest_edge", 400}}),
              HasSubstr("'size'"));
  EXPECT_THAT(refused("size", {{"height", 224}}), HasSubstr("'size'"));
  EXPECT_THAT(refused("resample", 6), HasSubstr("'resample' is 6; expected 0 nearest"));
  EXPECT_THAT(refused("resample", "bicubic"), HasSubstr("'resample'"));
  EXPECT_THAT(refused("do_resize", "yes"), HasSubstr("'do_resize' is \"yes\"; expected true"));
  EXPECT_THAT(refused("rescale_factor", 0), HasSubstr("'rescale_factor' is 0"));
  EXPECT_THAT(refused("image_mean", {0.5, 0.5}), HasSubstr("'image_mean' is [0.5,0.5]"));
  EXPECT_THAT(refused("image_std", {0.5, 0.0, 0.5}), HasSubstr("above 0"));
  EXPECT_THAT(refused("image_std", {0.5, 1e-60, 0.5}), HasSubstr("above 0"));  // 0 as a float
  EXPECT_THAT(refused("image_mean", {0.5, 1e60, 0.5}), HasSubstr("'image_mean'"));
  EXPECT_THAT(refused("image_mean", {0.5, "x", 0.5}), HasSubstr("'image_mean'"));
  EXPECT_THAT(refusal([] { specification_from_transformers(Json::array(), "p"); }),
              HasSubstr("is not a JSON object"));
}

TEST(SpecificationReader, NamesTheClassesThatItKnows) {
  EXPECT_THAT(transformers_refusal(vit(), "image_processor_type", "ConvNextImageProcessor"),
              AllOf(HasSubstr("'ConvNextImageProcessor'"), HasSubstr("doesn't say do_resize"),
                    HasSubstr("BitImageProcessor")));
  Json complete = vit();
  for (const char* key : {"do_resize", "do_rescale", "do_normalize"}) complete[key] = true;
  complete["do_center_crop"] = false;
  complete["resample"] = 1;
  complete["rescale_factor"] = 0.5;
  complete["image_processor_type"] = "SomeImageProcessor";
  EXPECT_EQ(specification_from_transformers(complete, "p").filter, Filter::lanczos);
  EXPECT_THAT(transformers_refusal(complete, "crop_pct", 0.9), HasSubstr("also asks for crop_pct"));
}

TEST(SpecificationReader, ReadsTimm) {
  Json json = timm();
  json["crop_pct"] = 0.9;
  Specification specification = specification_from_timm(json, "config.json");
  EXPECT_EQ(specification.resize, ResizeMode::shortest_edge);
  EXPECT_EQ(specification.edge, 35);
  EXPECT_EQ(specification.crop, (Size{32, 32}));
  EXPECT_EQ(specification.crop_offset, CropOffset::round_half_even);
  EXPECT_EQ(specification.filter, Filter::bicubic);
  json["crop_pct"] = nullptr;
  EXPECT_EQ(specification_from_timm(json, "config.json").edge, 36);  // floor(32 / 0.875)
  json["crop_mode"] = "squash";
  json["input_size"] = {3, 32, 48};
  specification = specification_from_timm(json, "config.json");
  EXPECT_EQ(specification.size, (Size{54, 36}));
  EXPECT_EQ(specification.crop, (Size{48, 32}));
  json["interpolation"] = "random";
  EXPECT_EQ(specification_from_timm(json, "config.json").filter, Filter::bilinear);
}

TEST(SpecificationReader, RefusesWhatTimmWouldNotMean) {
  EXPECT_THAT(timm_refusal("input_size", {1, 32, 32}), HasSubstr("[3, height, width]"));
  EXPECT_THAT(timm_refusal("input_size", {3, 32}), HasSubstr("'input_size'"));
  EXPECT_THAT(timm_refusal("input_size", {3, 32, -1}), HasSubstr("'input_size'"));
  EXPECT_THAT(timm_refusal("interpolation", "cubic"), HasSubstr("nearest, lanczos, bilinear"));
  EXPECT_THAT(timm_refusal("crop_mode", "middle"), HasSubstr("center, squash or border"));
  EXPECT_THAT(timm_refusal("crop_pct", 0.01), HasSubstr("'crop_pct'"));
  EXPECT_THAT(timm_refusal("crop_pct", "all"), HasSubstr("'crop_pct'"));
  EXPECT_THAT(timm_refusal("std", {0.5, -0.5, 0.5}), HasSubstr("'std'"));
}

}  // namespace
}  // namespace vitascope::image
