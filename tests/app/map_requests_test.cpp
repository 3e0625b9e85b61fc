#include "app/map_requests.h"

#include <gmock/gmock.h>

#include "tests/vit/model/tiny_model.h"
#include "vit/error.h"

namespace vitascope::app {
namespace {

std::vector<std::string> labels(const std::vector<MapRequest>& requests) {
  std::vector<std::string> all;
  for (const MapRequest& one : requests) all.push_back(one.label);
  return all;
}

MapChoice of_methods(std::vector<std::string> methods) {
  MapChoice choice;
  choice.methods = std::move(methods);
  return choice;
}

TEST(MapRequests, OfABackboneExplainNoClass) {
  model::Config config = model::tests::tiny_config();
  config.classes = 0;
  for (const explain::Method& method : explain::methods()) {
    const MapChoice choice = of_methods({std::string(method.name)});
    if (!method.needs_class()) {
      EXPECT_EQ(map_requests(choice, config).size(), 1u) << method.name;
      continue;
    }
    try {
      map_requests(choice, config);
      ADD_FAILURE() << method.name << " explains a class";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("this model has no head"));
    }
  }
  MapChoice all;
  all.grid = "methods";
  EXPECT_THAT(labels(map_requests(all, config)), testing::ElementsAre("raw", "rollout", "random"));
}

TEST(MapRequests, OfAGridAreNumbered) {
  const model::Config config = model::tests::tiny_config();  // 2 layers, 3 heads
  MapChoice choice;
  choice.grid = "heads";
  EXPECT_THAT(labels(map_requests(choice, config)),
              testing::ElementsAre("head 0", "head 1", "head 2"));
  choice.grid = "layers";
  const std::vector<MapRequest> layers = map_requests(choice, config);
  EXPECT_THAT(labels(layers), testing::ElementsAre("layer 0", "layer 1"));
  EXPECT_EQ(layers[0].options.query.layer, 0);
  EXPECT_EQ(layers[0].description, "attention of layer 0 of 0 to 1, mean of 3 heads");
}

TEST(MapRequests, PassOnWhatMethodsAreTold) {
  MapChoice choice = of_methods({"occlusion", "rise"});
  choice.occlusion = {8, 4};
  choice.rise_masks = 77;
  choice.seed = 5;
  const auto requests = map_requests(choice, model::tests::tiny_config());
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].options.occlusion.edge, 8);
  EXPECT_EQ(requests[0].options.occlusion.stride, 4);
  EXPECT_EQ(requests[1].options.rise_masks, 77);
  EXPECT_EQ(requests[1].options.seed, 5u);
}

}  // namespace
}  // namespace vitascope::app
