#include "vit/caption/positions.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/vit/caption/golden_mechanism.h"
#include "vit/model/sincos_positions.h"

namespace vitascope::caption {
namespace {

TEST(Positions, MatchGolden) {
  const tests::GoldenMechanism golden("positional");
  const Json sizes = tests::golden_sizes("positional");
  for (const Json& size : sizes.at("sinusoidal")) {
    const std::int64_t count = size.at(0), width = size.at(1);
    const std::string name = fmt::format("sinusoidal_{}x{}", count, width);
    golden.expect(name, sinusoidal_positions({0, count}, width), 1e-6);
    tests::expect_close(sinusoidal_positions({5, 3}, width), golden[name].narrow(0, 5, 3), 1e-6);
  }
  for (const Json& size : sizes.at("sincos2d")) {
    const int rows = size.at(0), columns = size.at(1), width = size.at(2);
    const bool with_class = size.at(3);
    golden.expect(
        fmt::format("sincos2d_{}x{}_d{}{}", rows, columns, width, with_class ? "_cls" : ""),
        model::sincos_positions(width, {rows, columns}, with_class ? 1 : 0), 1e-6);
  }
}

}  // namespace
}  // namespace vitascope::caption
