#include "vit/explain/method.h"

#include <ATen/ATen.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <gmock/gmock.h>

#include "tests/vit/model/tiny_model.h"
#include "vit/error.h"

namespace vitascope::explain {
namespace {

using model::Config;

TEST(Methods, AreFoundByName) {
  for (const Method& method : methods()) EXPECT_EQ(&find_method(method.name), &method);
  try {
    find_method("grad-cam");
    ADD_FAILURE() << "no such method";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("'grad-cam'"),
                                             testing::HasSubstr("raw, rollout")));
  }
}

TEST(Methods, SayWhyAModelCanNotBeExplained) {
  Config config = model::tests::tiny_config();
  config.classes = 0;
  MapOptions options;
  for (const Method& method : methods()) {
    EXPECT_EQ(refusal(method, config, options).empty(), !method.needs_class()) << method.name;
  }
  config = model::tests::tiny_config();
  config.class_token = false;
  options.rollout = {.discard = 0.5, .rule = DiscardRule::keep_class_column};
  for (const Method& method : methods()) {
    const bool rolls = method.name.find("rollout") != std::string_view::npos;
    EXPECT_EQ(!refusal(method, config, options).empty(), rolls) << method.name;
  }
}

/// Every kind of prefix and head, on a grid that is not square and not the model's own.
TEST(Methods, ExplainEveryKindOfModel) {
  using Change = void (*)(Config&);
  const Change changes[] = {[](Config&) {},
                            [](Config& config) { config.registers = 3; },
                            [](Config& config) {
                              config.class_token = false;
                              config.position_prefix = 0;
                              config.fc_norm = true;
                              config.pooling = model::Pooling::mean_patches;
                            },
                            [](Config& config) { config.pooling = model::Pooling::mean_patches; },
                            [](Config& config) { config.pooling = model::Pooling::class_and_mean; },
                            [](Config& config) {
                              config.distillation_token = true;
                              config.position_prefix = 2;
                              config.pooling = model::Pooling::first_two;
                            },
                            [](Config& config) {
                              config.swiglu = config.layer_scale = config.qk_norm =
                                  config.pre_norm = true;
                            }};
  MapOptions few;
  few.rise_masks = 20;
  for (const Change change : changes) {
    Config config = model::tests::tiny_config();
    change(config);
    const model::VisionTransformer network = model::tests::random_weights(config);
    const at::Tensor pixels = at::randn({1, 3, 16, 20});
    for (const Method& method : methods()) {
      SCOPED_TRACE(std::string(method.name));
      const Map map = map_of(method, network, pixels, 2, few);
      EXPECT_EQ(map.method, method.name);
      EXPECT_EQ(map.values.sizes(), (std::vector<std::int64_t>{4, 5}));
      EXPECT_TRUE(map.values.isfinite().all().item<bool>());
      EXPECT_EQ(map.class_index.has_value(), method.needs_class());
      EXPECT_FALSE(map.values.requires_grad());
    }
  }
}

/// Bytes that this thread holds and held at most since the count began.
class MemoryCount : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t,
                         c10::Device) override {
    held += bytes;
    most = std::max(most, held);
    largest = std::max(largest, bytes);
  }
  bool memoryProfilingEnabled() const override { return true; }
  std::int64_t held = 0, most = 0, largest = 0;
};

TEST(Methods, HoldNoMoreThanTheMatricesOfOneHead) {
  Config config = model::tests::tiny_config();
  config.width = 48;
  config.heads = 12;
  const model::VisionTransformer network = model::tests::random_weights(config);
  const at::Tensor pixels = at::randn({1, 3, 80, 80});  // N = 401
  constexpr std::int64_t kMatrix = 401 * 401 * sizeof(float);
  const auto count_memory = [&](const Method& method, const RolloutOptions& rollout) {
    SCOPED_TRACE(std::string(method.name));
    const auto count = std::make_shared<MemoryCount>();
    {
      const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, count);
      MapOptions options;
      options.rollout = rollout;
      map_of(method, network, pixels, 2, options);
    }
    EXPECT_GT(count->most, 0);
    EXPECT_LE(count->largest, kMatrix * 1.1);
    EXPECT_LE(count->most, kMatrix * 6);
    EXPECT_EQ(count->held, 0);
  };
  for (const Method& method : methods()) {
    if (method.read != nullptr) count_memory(method, {});
  }
  count_memory(find_method("rollout"), {.fusion = HeadFusion::max, .discard = 0.9});
}

}  // namespace
}  // namespace vitascope::explain
