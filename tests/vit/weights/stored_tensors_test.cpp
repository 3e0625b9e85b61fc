#include "vit/weights/stored_tensors.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>

namespace vitascope::weights {
namespace {

TEST(ElementSize, IsThatOfTheNameInBits) {
  const std::pair<DType, const char*> dtypes[] = {
      {DType::f64, "F64"},   {DType::f32, "F32"}, {DType::f16, "F16"},
      {DType::bf16, "BF16"}, {DType::i64, "I64"}, {DType::i32, "I32"},
      {DType::i16, "I16"},   {DType::i8, "I8"},   {DType::u8, "U8"}};
  for (const auto& [dtype, name] : dtypes) {
    EXPECT_STREQ(dtype_name(dtype), name);
    const std::string digits =
        std::string(name).substr(std::string(name).find_first_of("0123456789"));
    EXPECT_EQ(8 * element_size(dtype), std::stoul(digits)) << name;
  }
  EXPECT_STREQ(dtype_name(DType::boolean), "BOOL");
  EXPECT_EQ(element_size(DType::boolean), 1u);
}

TEST(ElementCount, IsTheProduct) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({7}), 7);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({2, 0, 4}), 0);
  EXPECT_EQ(element_count({INT64_MAX}), INT64_MAX);
}

TEST(ElementCount, RefusesWhatDoesNotFit) {
  EXPECT_THROW(element_count({-1}), std::overflow_error);
  EXPECT_THROW(element_count({std::int64_t{1} << 32, std::int64_t{1} << 31}), std::overflow_error);
  EXPECT_THROW(element_count({INT64_MAX, 2}), std::overflow_error);
  // A zero does not make its neighbours harmless: strides are their products.
  EXPECT_THROW(element_count({0, INT64_MAX, INT64_MAX}), std::overflow_error);
  EXPECT_THROW(element_count({0, -1}), std::overflow_error);
}

}  // namespace
}  // namespace vitascope::weights
