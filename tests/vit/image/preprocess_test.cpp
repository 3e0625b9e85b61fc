#include "vit/image/preprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/golden.h"
#include "tests/vit/image/noise.h"
#include "vit/error.h"
#include "vit/image/decode.h"
#include "vit/image/specification_reader.h"
#include "vit/json.h"
#include "vit/weights/safetensors.h"

namespace vitascope::image {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The specification of one of the golden manifest's processors.
Specification processor(const Json& json) {
  Specification result;
  const auto number = [&](const char* key) { return json.at(key).get<int>(); };
  if (json.at("resize") == "squash") {
    result.size = {number("width"), number("height")};
  } else {
    result.resize = ResizeMode::shortest_edge;
    result.edge = number("edge");
    result.crop = Size{number("crop"), number("crop")};
    result.crop_offset =
        json.at("crop_offset") == "floor" ? CropOffset::floor : CropOffset::round_half_even;
  }
  result.filter = json.at("filter") == "bicubic" ? Filter::bicubic : Filter::bilinear;
  for (std::size_t c = 0; c < 3; ++c) {
    result.mean[c] = json.at("mean")[c].get<float>();
    result.std[c] = json.at("std")[c].get<float>();
  }
  return result;
}

TEST(Prepare, GivesTheGoldenTensorsExactly) {
  const Json manifest = read_json(tests::golden("images/manifest.json"));
  const auto expected = weights::read_safetensors(tests::golden("images/expected.safetensors"));
  std::size_t compared = 0;
  for (const Json& entry : manifest.at("files")) {
    if (entry.at("expect") != "ok") continue;
    const std::string name = entry.at("file");
    const Picture picture = decode(tests::golden("images/" + name));
    for (const auto& [key, json] : manifest.at("processors").items()) {
      const auto found = expected.tensors.find(name + "|" + key);
      if (found == expected.tensors.end()) continue;
      SCOPED_TRACE(found->first);
      const at::Tensor pixels = prepare(picture, processor(json)).pixels;
      ASSERT_THAT(pixels.sizes().vec(), ElementsAre(3, 32, 32));
      const auto* ours = pixels.data_ptr<float>();
      std::vector<float> theirs(found->second.bytes.size() / sizeof(float));
      std::memcpy(theirs.data(), found->second.bytes.data(), found->second.bytes.size());
      float largest = 0;
      for (std::size_t i = 0; i < theirs.size(); ++i)
        largest = std::max(largest, std::abs(ours[i] - theirs[i]));
      EXPECT_EQ(largest, 0.0f);
      ++compared;
    }
  }
  EXPECT_EQ(compared, expected.tensors.size());
}

/// Configurations as they stand in models' files, read and applied as transformers' PIL back end
/// and timm do: sizes, crops, padding, filters and arithmetic.
TEST(Prepare, GivesTheBitsOfTransformersAndTimm) {
  const Json cases = read_json(tests::golden("prepared.json"));
  EXPECT_GT(cases.size(), 200u);
  for (const Json& entry : cases) {
    SCOPED_TRACE(entry.dump());
    const Size size{entry.at("size")[0].get<int>(), entry.at("size")[1].get<int>()};
    const bool timm = entry.at("library") == "timm";
    Specification specification = timm ? specification_from_timm(entry.at("config"), "config.json")
                                       : specification_from_transformers(entry.at("config"), "p");
    if (entry.contains("input_size"))
      specification = with_input_size(specification, {entry.at("input_size")[1].get<int>(),
                                                      entry.at("input_size")[0].get<int>()});
    const Prepared prepared = prepare(tests::noise_picture(size), specification);
    EXPECT_EQ(prepared.pixels.sizes().vec(), entry.at("shape").get<std::vector<std::int64_t>>());
    EXPECT_EQ(
        crc32_z(0, static_cast<const Bytef*>(prepared.pixels.data_ptr()), prepared.pixels.nbytes()),
        entry.at("crc32").get<std::uint32_t>());
    EXPECT_EQ(prepared.view.output(), (Size{static_cast<int>(prepared.pixels.size(2)),
                                            static_cast<int>(prepared.pixels.size(1))}));
    EXPECT_EQ(prepared.view.output(), output_size(specification).value_or(prepared.view.output()));
  }
}

TEST(Prepare, KeepsTheBytesOfWhatTheNetworkSees) {
  Specification specification;
  specification.resize = ResizeMode::none;
  specification.crop = Size{3, 2};
  Picture picture;
  picture.size = picture.stored = {5, 2};
  for (int i = 0; i < 30; ++i) picture.rgb.push_back(static_cast<std::uint8_t>(i));
  const Picture bytes = prepare_bytes(picture, specification);
  EXPECT_EQ(bytes.size, (Size{3, 2}));
  EXPECT_THAT(bytes.rgb, ElementsAre(3, 4, 5, 6, 7, 8, 9, 10, 11,  //
                                     18, 19, 20, 21, 22, 23, 24, 25, 26));
}

TEST(Prepare, RefusesAStripThatWouldBecomeEnormous) {
  Specification specification;
  specification.resize = ResizeMode::shortest_edge;
  specification.edge = 16384;
  Picture strip = tests::noise_picture({2000, 1});
  strip.path = "strip.png";
  try {
    prepare(strip, specification);
    FAIL() << "prepared";
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), "strip.png");
    EXPECT_THAT(error.message(), HasSubstr("32768000 x 16384 pixels"));
  }
}

/// A crop of the same strip needs only its own part.
TEST(Prepare, ComputesOnlyWhatTheCropShows) {
  Specification specification;
  specification.resize = ResizeMode::shortest_edge;
  specification.edge = 16384;
  specification.crop = Size{8, 8};
  EXPECT_EQ(prepare(tests::noise_picture({2000, 1}), specification).pixels.numel(), 192);
}

}  // namespace
}  // namespace vitascope::image
