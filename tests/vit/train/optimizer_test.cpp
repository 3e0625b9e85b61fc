#include "vit/train/optimizer.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <limits>
#include <stdexcept>

#include "tests/vit/train/golden_training.h"
#include "vit/error.h"

namespace vitascope::train {
namespace {

at::Tensor leaf(const at::Tensor& value) { return value.detach().clone().requires_grad_(); }

void set_gradient(const Parameter& parameter, const at::Tensor& gradient) {
  parameter.tensor.mutable_grad() =
      gradient.detach().to(parameter.tensor.scalar_type(), false, /*copy=*/true);
}

/// A weight that decays and a bias that doesn't, with the gradients of five steps.
class GoldenAdamW : public testing::Test {
 protected:
  Optimizer optimizer(at::ScalarType type) {
    return {{{"weight", leaf(tensors["weight.step0"].to(type)), {1, golden.at("weight_decay")}},
             {"bias", leaf(tensors["bias.step0"].to(type)), {1, 0}}},
            AdamW{.beta1 = golden.at("betas").at(0),
                  .beta2 = golden.at("betas").at(1),
                  .epsilon = golden.at("eps")}};
  }

  /// Step `number`, from 1.
  void take(Optimizer& optimizer, int number) {
    for (const Parameter& parameter : optimizer.parameters()) {
      set_gradient(parameter, tensors[parameter.name + ".grad" + std::to_string(number)]);
    }
    optimizer.step(golden.at("lr").at(static_cast<std::size_t>(number - 1)));
  }

  double error(const Optimizer& optimizer, int number) {
    double largest = 0;
    for (const Parameter& parameter : optimizer.parameters()) {
      largest = std::max(largest, tests::relative_error(
                                      parameter.tensor,
                                      tensors[parameter.name + ".step" + std::to_string(number)]));
    }
    return largest;
  }

  const tests::GoldenTensors tensors{"adamw"};
  const Json golden = tests::golden_json("adamw");
};

TEST_F(GoldenAdamW, StepsAreTheGoldenOnes) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    Optimizer method = optimizer(type);
    for (int number = 1; number <= golden.at("steps").get<int>(); ++number) {
      SCOPED_TRACE(number);
      take(method, number);
      // The golden ones are stored as float32.
      EXPECT_LE(error(method, number), type == at::kFloat ? 1e-6 : 1e-7);
    }
    const NamedTensors state = method.state();
    for (const std::string name : {"weight", "bias"}) {
      EXPECT_LE(tests::relative_error(state.at("exp_avg." + name), tensors[name + ".exp_avg"]),
                1e-6);
      EXPECT_LE(
          tests::relative_error(state.at("exp_avg_sq." + name), tensors[name + ".exp_avg_sq"]),
          1e-6);
      EXPECT_EQ(state.at("step." + name).item<float>(), 5);
    }
  }
}

TEST_F(GoldenAdamW, RateScaleMultipliesTheRate) {
  Optimizer method({{"weight", leaf(tensors["weight.step0"]), {.5, golden.at("weight_decay")}}},
                   AdamW{});
  set_gradient(method.parameters()[0], tensors["weight.grad1"]);
  method.step(2 * golden.at("lr").at(0).get<double>());
  EXPECT_LE(error(method, 1), 1e-6);
}

TEST_F(GoldenAdamW, GoesOnBitByBitFromItsState) {
  Optimizer straight = optimizer(at::kFloat);
  for (int number = 1; number <= 5; ++number) take(straight, number);

  Optimizer first = optimizer(at::kFloat);
  for (int number = 1; number <= 2; ++number) take(first, number);
  NamedTensors saved;
  for (const auto& [name, tensor] : first.state()) saved.emplace(name, tensor.clone());
  Optimizer second({{"weight", leaf(first.weights().at("weight")), {1, golden.at("weight_decay")}},
                    {"bias", leaf(first.weights().at("bias")), {1, 0}}},
                   AdamW{.beta1 = golden.at("betas").at(0), .epsilon = golden.at("eps")});
  second.restore(saved);
  for (int number = 3; number <= 5; ++number) take(second, number);
  for (const auto& [name, weight] : straight.weights()) {
    EXPECT_TRUE(at::equal(weight, second.weights().at(name))) << name;
  }
}

TEST_F(GoldenAdamW, ParametersWithoutGradientStay) {
  Optimizer method = optimizer(at::kFloat);
  set_gradient(method.parameters()[0], tensors["weight.grad1"]);
  method.step(.01);
  EXPECT_TRUE(at::equal(method.parameters()[1].tensor, tensors["bias.step0"]));
  EXPECT_EQ(method.state().at("step.bias").item<float>(), 0);
  method.clear_gradients();
  EXPECT_FALSE(method.parameters()[0].tensor.grad().defined());
}

TEST_F(GoldenAdamW, ClippingIsTheGoldenOne) {
  Optimizer method = optimizer(at::kFloat);
  for (const Parameter& parameter : method.parameters()) {
    set_gradient(parameter, tensors[parameter.name + ".grad1"]);
  }
  const Json& clip = golden.at("clip");
  tests::expect_relative(clip_gradients(method.parameters(), clip.at("max_norm")), clip.at("norm"),
                         1e-6);
  for (const Parameter& parameter : method.parameters()) {
    EXPECT_LE(
        tests::relative_error(parameter.tensor.grad(), tensors[parameter.name + ".grad1_clipped"]),
        1e-6);
  }
}

TEST_F(GoldenAdamW, SmallAndBrokenGradientsAreNotScaled) {
  Optimizer method = optimizer(at::kFloat);
  const Parameter& weight = method.parameters()[0];
  set_gradient(weight, tensors["weight.grad1"]);
  clip_gradients(method.parameters(), 1e3);
  EXPECT_TRUE(at::equal(weight.tensor.grad(), tensors["weight.grad1"]));
  weight.tensor.mutable_grad()[0][0] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(clip_gradients(method.parameters(), 1), std::numeric_limits<double>::infinity());
  EXPECT_EQ(weight.tensor.grad()[1][0].item<float>(), tensors["weight.grad1"][1][0].item<float>());
  method.clear_gradients();
  EXPECT_EQ(clip_gradients(method.parameters(), 1), 0);
}

TEST(Optimizer, SgdIsWhatPyTorchGives) {
  const Json& golden = tests::golden_training().at("sgd");
  ASSERT_EQ(golden.at("runs").size(), 3);
  for (const Json& run : golden.at("runs")) {
    Optimizer method(
        {{"weight", leaf(tests::tensor_of(golden.at("start"))), {1, run.at("weight_decay")}}},
        Sgd{.momentum = run.at("momentum"), .nesterov = run.at("nesterov")});
    for (std::size_t t = 0; t < golden.at("gradients").size(); ++t) {
      set_gradient(method.parameters()[0], tests::tensor_of(golden.at("gradients").at(t)));
      method.step(.1 / static_cast<double>(t + 1));
      EXPECT_LE(tests::relative_error(method.parameters()[0].tensor,
                                      tests::tensor_of(run.at("steps").at(t))),
                1e-9);
    }
  }
}

TEST(Optimizer, SgdGoesOnFromItsState) {
  const at::Tensor start = at::tensor({1.F, -2.F});
  const at::Tensor gradient = at::tensor({.5F, .25F});
  Optimizer first({{"weight", leaf(start)}}, Sgd{});
  set_gradient(first.parameters()[0], gradient);
  first.step(.1);
  Optimizer second({{"weight", leaf(first.parameters()[0].tensor)}}, Sgd{});
  second.restore(first.state());
  set_gradient(second.parameters()[0], gradient);
  first.step(.1);
  second.step(.1);
  EXPECT_TRUE(at::equal(first.parameters()[0].tensor, second.parameters()[0].tensor));
}

TEST(Optimizer, HalfParametersAreRoundedFromExactOnes) {
  // Steps of 1e-4 beside a weight of 1 are lost in bfloat16, whose step there is 0.0078.
  const Sgd plain{.momentum = 0};
  Optimizer half({{"weight", leaf(at::ones({8}, at::kBFloat16))}}, plain);
  Optimizer exact({{"weight", leaf(at::ones({8}))}}, plain);
  for (int i = 0; i < 200; ++i) {
    for (const Optimizer* each : {&half, &exact}) {
      set_gradient(each->parameters()[0], at::ones({8}));
    }
    half.step(1e-4);
    exact.step(1e-4);
  }
  EXPECT_TRUE(at::equal(half.weights().at("weight"), exact.weights().at("weight")));
  EXPECT_TRUE(at::equal(half.parameters()[0].tensor,
                        exact.parameters()[0].tensor.detach().to(at::kBFloat16)));
  EXPECT_LT(half.parameters()[0].tensor[0].item<float>(), .99);

  Optimizer resumed({{"weight", leaf(at::zeros({8}, at::kBFloat16))}}, plain);
  resumed.restore(half.state());
  EXPECT_TRUE(at::equal(resumed.parameters()[0].tensor, half.parameters()[0].tensor));
}

TEST(Optimizer, RefusesWhatDoesNotFit) {
  const at::Tensor weight = leaf(at::ones({2, 3}));
  EXPECT_THROW(Optimizer({{"a", weight}, {"a", weight}}, AdamW{}), std::invalid_argument);
  EXPECT_THROW(Optimizer({{"a", weight.detach().t()}}, AdamW{}), std::invalid_argument);
  for (const Method& wrong :
       {Method{AdamW{.beta1 = 1}}, Method{AdamW{.beta2 = -1}}, Method{AdamW{.epsilon = 0}},
        Method{Sgd{.momentum = 1}}, Method{Sgd{.momentum = 0, .nesterov = true}}}) {
    EXPECT_THROW(Optimizer({{"a", weight}}, wrong), UsageError);
  }
}

}  // namespace
}  // namespace vitascope::train
