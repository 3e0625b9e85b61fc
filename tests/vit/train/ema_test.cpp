#include "vit/train/ema.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/vit/train/golden_training.h"
#include "vit/error.h"

namespace vitascope::train {
namespace {

/// The golden averages: weights of 13 moments, 12 updates.
class GoldenEma : public testing::TestWithParam<std::pair<EmaWarmup, std::string>> {
 protected:
  EmaOptions options() const {
    return {.decay = golden.at("decay"),
            .warmup = GetParam().first,
            .gamma = golden.at("timm_gamma"),
            .power = golden.at("timm_power")};
  }
  at::Tensor theta(std::size_t moment) const {
    return tests::tensor_of(golden.at("theta").at(moment));
  }
  Json averages() const { return golden.at(GetParam().second + "_ema"); }

  const Json golden = tests::golden_json("schedules").at("ema");
};

TEST_P(GoldenEma, DecaysAreTheGoldenOnes) {
  const Json& decays = golden.at(GetParam().second + "_decay");
  ASSERT_EQ(decays.size(), 12);
  for (std::size_t t = 0; t < decays.size(); ++t) {
    tests::expect_relative(ema_decay(options(), static_cast<std::int64_t>(t)), decays.at(t), 1e-9);
  }
}

TEST_P(GoldenEma, AveragesAreTheGoldenOnes) {
  for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
    const at::Tensor weight = theta(0).to(type);
    Ema ema({{"weight", weight}}, options());
    for (std::size_t t = 0; t < averages().size(); ++t) {
      weight.copy_(theta(t + 1));
      ema.update();
      EXPECT_LE(
          tests::relative_error(ema.average().at("weight"), tests::tensor_of(averages().at(t))),
          type == at::kDouble ? 1e-9 : 1e-6);
    }
  }
}

TEST_P(GoldenEma, GoesOnBitByBitFromItsState) {
  const at::Tensor weight = theta(0).to(at::kFloat);
  Ema straight({{"weight", weight}}, options());
  for (std::size_t t = 1; t <= 5; ++t) {
    weight.copy_(theta(t));
    straight.update();
  }
  NamedTensors saved;
  for (const auto& [name, tensor] : straight.state()) saved.emplace(name, tensor.clone());
  Ema resumed({{"weight", weight}}, options());
  resumed.restore(saved);
  for (std::size_t t = 6; t <= 12; ++t) {
    weight.copy_(theta(t));
    straight.update();
    resumed.update();
  }
  EXPECT_TRUE(at::equal(straight.average().at("weight"), resumed.average().at("weight")));
}

INSTANTIATE_TEST_SUITE_P(Warmups, GoldenEma,
                         testing::Values(std::pair{EmaWarmup::tensorflow, std::string("tf_style")},
                                         std::pair{EmaWarmup::timm, std::string("timm_v3")}),
                         [](const auto& which) { return which.param.second; });

TEST(Ema, WithoutWarmupDecaysFromTheStart) {
  EXPECT_EQ(ema_decay({.decay = .9, .warmup = EmaWarmup::none}, 0), .9);
  const at::Tensor weight = at::zeros({1});
  Ema ema({{"weight", weight}}, {.decay = .9, .warmup = EmaWarmup::none});
  weight.fill_(1);
  ema.update();
  EXPECT_NEAR(ema.average().at("weight").item<float>(), .1, 1e-7);
}

TEST(Ema, IsACopyInFloatOfHalfWeights) {
  const at::Tensor weight = at::ones({2}, at::kBFloat16);
  const at::Tensor exact = at::ones({2});
  const Ema ema({{"half", weight}, {"exact", exact}}, {});
  exact.zero_();
  EXPECT_EQ(ema.average().at("half").scalar_type(), at::kFloat);
  EXPECT_EQ(ema.average().at("exact")[0].item<float>(), 1);
}

TEST(Ema, RefusesOptionsOutOfRange) {
  for (const EmaOptions& wrong : {EmaOptions{.decay = 1.1}, EmaOptions{.decay = -.1},
                                  EmaOptions{.gamma = 0}, EmaOptions{.power = 0}}) {
    EXPECT_THROW(Ema({}, wrong), UsageError);
  }
}

}  // namespace
}  // namespace vitascope::train
