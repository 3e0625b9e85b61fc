#include "app/benchmark.h"

#include <gmock/gmock.h>

#include "tests/golden.h"
#include "vit/error.h"
#include "vit/weights/model_directory.h"

namespace vitascope::app {
namespace {

using tests::golden;

Measurement measurement(const model::VisionTransformer& network, std::int64_t batch) {
  Measurement one;
  one.batch_size = batch;
  one.precision = "fp32";
  one.network = &network;
  return one;
}

TEST(Measure, TimesEveryRepetitionOfEveryConfiguration) {
  const weights::Model model = weights::open_model(golden("models/hf-vit"));
  std::vector<Measurement> measurements{measurement(model.network, 1),
                                        measurement(model.network, 64)};
  measure(measurements, {32, 32}, {.warm_up = 1, .repeat = 7});
  for (const Measurement& one : measurements) {
    EXPECT_THAT(one.seconds, testing::SizeIs(7));
    EXPECT_THAT(one.seconds, testing::Each(testing::Gt(0)));
    EXPECT_GT(one.peak_memory, 10 << 20);
  }
  EXPECT_GT(spread(measurements[1].seconds).median, spread(measurements[0].seconds).median);
}

TEST(Measure, PartsAddUpToNoMoreThanTheirPass) {
  const weights::Model model = weights::open_model(golden("models/hf-vit"));
  std::vector<Measurement> measurements{measurement(model.network, 64)};
  measure(measurements, {32, 32}, {.warm_up = 2, .repeat = 9});
  const model::PartTimes& parts = measurements[0].parts;
  for (const double part : {parts.embed, parts.attention, parts.mlp, parts.head}) {
    EXPECT_GT(part, 0);
  }
  // Of the same passes, so that no load of the machine can tell them apart.
  EXPECT_LE(parts.embed + parts.attention + parts.mlp + parts.head, measurements[0].parts_pass);
}

TEST(MeasurePhoto, TakesAPhotoOrMakesOne) {
  image::Specification specification;
  specification.size = {32, 32};
  for (const std::string& path : {std::string(), golden("images/rgb_plain.jpg")}) {
    const PhotoTimes times = measure_photo(path, specification, 3);
    EXPECT_GT(times.decode, 0);
    EXPECT_GT(times.prepare, 0);
  }
  EXPECT_THROW(measure_photo(golden("images/bad/text.jpg"), specification, 1), InputError);
}

}  // namespace
}  // namespace vitascope::app
