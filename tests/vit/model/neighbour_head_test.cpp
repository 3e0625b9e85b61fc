#include "vit/model/neighbour_head.h"

#include <gmock/gmock.h>

#include <limits>
#include <stdexcept>

#include "tests/vit/model/golden_tensors.h"
#include "tests/vit/model/tiny_model.h"

namespace vitascope::model {
namespace {

using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

at::Tensor golden(const std::string& name) {
  return tests::golden_tensor("neighbours.safetensors", name);
}

/// The head of the golden file: nobody votes for the second class.
NeighbourHead golden_head() {
  return {.vote = {.count = 7, .temperature = 0.3, .photos = {9, 0, 8, 7}},
          .features = golden("features")};
}

TEST(NeighbourHead, SharesAreThoseOfScikitLearn) {
  const at::Tensor logits = golden_head().logits(golden("queries"));
  EXPECT_TRUE(logits.isfinite().all().item<bool>());
  EXPECT_LE((logits.softmax(1) - golden("shares")).abs().max().item<double>(), 1e-6);
}

TEST(NeighbourHead, GradientsAreThoseOfTheVotes) {
  const at::Tensor queries = golden("queries").requires_grad_();
  (golden_head().logits(queries) * golden("coefficients")).sum().backward();
  const at::Tensor expected = golden("grad.queries");
  EXPECT_LE((queries.grad() - expected).abs().max().item<double>(),
            1e-5 * expected.abs().max().item<double>());
}

TEST(NeighbourHead, OnlyTheNearestVote) {
  NeighbourHead head = golden_head();
  head.vote.count = 1;
  const at::Tensor cosines = head.cosines(golden("queries"));
  const at::Tensor votes = head.logits_of(cosines).softmax(1);
  const at::Tensor classes = at::repeat_interleave(at::tensor({9, 0, 8, 7}));
  EXPECT_TRUE(at::equal(votes.argmax(1), classes.index_select(0, cosines.argmax(1))));
  EXPECT_GE(votes.amax(1).min().item<double>(), 1 - 1e-6);
}

TEST(NeighbourHead, APhotoThatIsInfinitelyFarHasNoVote) {
  NeighbourHead head = golden_head();
  head.vote.count = 24;
  at::Tensor cosines = head.cosines(golden("queries"));
  cosines.slice(1, 0, 9).fill_(-kInfinity);
  const at::Tensor votes = head.logits_of(cosines).softmax(1);
  EXPECT_LE(votes.select(1, 0).max().item<double>(), 1e-8);
  EXPECT_GE(votes.select(1, 2).min().item<double>(), 0.01);
}

TEST(NeighbourHead, AZeroIsLikeNothing) {
  const at::Tensor logits = golden_head().logits(at::zeros({1, 6}));
  EXPECT_TRUE(logits.isfinite().all().item<bool>());
}

Config neighbour_config() {
  Config config = tests::tiny_config();
  config.neighbours = NeighbourVote{.count = 2, .temperature = 0.5, .photos = {1, 2, 0, 3, 1}};
  return config;
}

TEST(NeighbourHead, TakesThePlaceOfTheMatrix) {
  Config config = neighbour_config();
  VisionTransformer network = tests::random_weights(config);
  std::vector<std::string> heads;
  for (const auto& [name, slot] : network.parameters()) {
    if (!name.starts_with("head")) continue;
    heads.push_back(name);
    *slot = unit_rows(*slot);
    EXPECT_EQ(slot->sizes(), (std::vector<std::int64_t>{7, 12}));
  }
  EXPECT_THAT(heads, testing::ElementsAre("head.features"));
  const Output output = network.forward(at::randn({2, 3, 8, 12}));
  EXPECT_EQ(output.logits.sizes(), (std::vector<std::int64_t>{2, 5}));
  const NeighbourHead head{.vote = *config.neighbours,
                           .features = *network.parameters().back().second};
  EXPECT_TRUE(at::equal(output.logits, head.logits(output.features)));

  Config backbone = config;
  backbone.neighbours.reset();
  backbone.classes = 0;
  EXPECT_EQ(flops(config, {2, 3}) - flops(backbone, {2, 3}), 2 * 7 * 12);
}

TEST(NeighbourHead, ReadsBothTokensOfDeitDistilled) {
  Config config = neighbour_config();
  config.distillation_token = true;
  config.position_prefix = 2;
  config.pooling = Pooling::first_two;
  VisionTransformer network = tests::random_weights(config);
  EXPECT_EQ(network.parameters().back().second->sizes(), (std::vector<std::int64_t>{7, 24}));
  EXPECT_EQ(network.forward(at::randn({2, 3, 8, 12})).logits.size(1), 5);
}

TEST(NeighbourHead, NumbersMustFitTogether) {
  const auto complaint = [](auto change) -> std::string {
    Config config = neighbour_config();
    change(config);
    try {
      validate(config);
      return "";
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  EXPECT_EQ(complaint([](Config&) {}), "");
  EXPECT_EQ(complaint([](Config& c) { c.neighbours->count = 8; }),
            "number of neighbours is 8: expected 1 to 7");
  EXPECT_THAT(complaint([](Config& c) { c.neighbours->count = 0; }), HasSubstr("is 0"));
  EXPECT_THAT(complaint([](Config& c) { c.neighbours->temperature = 0; }),
              HasSubstr("temperature of the neighbours is 0"));
  EXPECT_THAT(complaint([](Config& c) { c.neighbours->temperature = kInfinity; }),
              HasSubstr("is inf"));
  EXPECT_THAT(complaint([](Config& c) { c.neighbours->photos = {3}; }), HasSubstr("1 classes"));
  EXPECT_THAT(complaint([](Config& c) { c.neighbours->photos[0] = -1; }), HasSubstr("is -1"));
  EXPECT_THAT(complaint([](Config& c) {
                c.neighbours->photos = {0, 0, 0, 0, 0};
              }),
              HasSubstr("the head keeps is 0"));
  EXPECT_THAT(complaint([](Config& c) { c.multi_label = true; }), HasSubstr("one label a photo"));
}

}  // namespace
}  // namespace vitascope::model
