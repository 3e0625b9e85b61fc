#include "app/report/packed_maps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "vit/error.h"

namespace vitascope::app::report {
namespace {

// The examples of RFC 4648, section 10.
TEST(PackedMaps, Base64AsTheStandardGivesIt) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xFF\xFE\xFD"), "//79");
}

TEST(PackedMaps, EndsAreExactAndTheMiddleIsTheNearestLevel) {
  const PackedMaps packed = pack(std::vector<float>{-1, 1, 0.1f, 0}, 2, "maps");
  EXPECT_EQ(packed.low, (std::vector<float>{-1, 0}));
  EXPECT_EQ(packed.high, (std::vector<float>{1, 0.1f}));
  EXPECT_EQ(packed.levels, base64(std::string("\0\xFF\xFF\0", 4)));
  // Level 64 of 255 is nearest to a quarter.
  EXPECT_EQ(pack(std::vector<float>{0, 1, 0.25f}, 3, "map").levels,
            base64(std::string("\0\xFF\x40", 3)));
}

TEST(PackedMaps, AConstantMapHasOneLevel) {
  const PackedMaps packed = pack(std::vector<float>{3, 3, 3}, 3, "map");
  EXPECT_EQ(packed.low, packed.high);
  EXPECT_EQ(packed.levels, "AAAA");
}

TEST(PackedMaps, TheWidestRangeDoesNotOverflow) {
  constexpr float kMost = std::numeric_limits<float>::max();
  EXPECT_EQ(pack(std::vector<float>{-kMost, kMost, -kMost}, 3, "map").levels,
            base64(std::string("\0\xFF\0", 3)));
}

std::string message(const std::vector<float>& maps, std::size_t cells) {
  try {
    pack(maps, cells, "layer 3");
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

TEST(PackedMaps, RefusesWhatIsNoMap) {
  EXPECT_EQ(message({1, 2, 3}, 2),
            "report: layer 3 holds 3 values, expected a multiple of 2 cells");
  EXPECT_EQ(message({}, 2), "report: layer 3 holds 0 values, expected a multiple of 2 cells");
  EXPECT_EQ(message({1}, 0), "report: layer 3 holds 1 values, expected a multiple of 0 cells");
  EXPECT_EQ(message({1, NAN}, 2), "report: layer 3 holds NaN or infinity");
  EXPECT_EQ(message({1, INFINITY}, 2), "report: layer 3 holds NaN or infinity");
}

}  // namespace
}  // namespace vitascope::app::report
