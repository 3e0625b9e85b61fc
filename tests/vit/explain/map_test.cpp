#include "vit/explain/map.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/golden.h"
#include "vit/json.h"

namespace vitascope::explain {
namespace {

TEST(MinMax, GivesWhatPythonGave) {
  const Json statistics = read_json(tests::golden("explain/statistics.json"));
  for (const Json& map : statistics.at("maps")) {
    const at::Tensor values = at::tensor(map.at("map").get<std::vector<double>>());
    const at::Tensor expected = at::tensor(map.at("minmax").get<std::vector<double>>());
    EXPECT_TRUE(at::allclose(min_max(values), expected, 1e-6, 1e-7)) << map.dump();
  }
}

TEST(MinMax, AConstantMapIsZerosWhateverItsValue) {
  EXPECT_TRUE(at::equal(min_max(at::full({2, 3}, -7.0F)), at::zeros({2, 3})));
}

}  // namespace
}  // namespace vitascope::explain
