#include "vit/weights/npy_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/vit/weights/npy_builder.h"
#include "vit/error.h"

namespace vitascope::weights {
namespace {

using testing::HasSubstr;
using tests::le;
using tests::literal;
using tests::npy;

std::string error_of(const std::string& array) {
  try {
    parse_npy_header(std::as_bytes(std::span(array)), "a.npy");
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), "a.npy");
    return error.message();
  }
  return "no error";
}

TEST(ParseNpyHeader, FaultsOfTheHeaderAreNamed) {
  const std::pair<std::string, const char*> headers[] = {
      {literal(">f4", "False", "(1,)"), "big-endian"},
      {literal("|O", "False", "(1,)"), "object array"},
      {literal("O", "False", "(1,)"), "object array"},
      {literal("|V2", "False", "(1,)"), "dtype '|V2' is not supported"},
      {literal("<c8", "False", "(1,)"), "dtype '<c8' is not supported"},
      {literal("=f4", "False", "(1,)"), "dtype '=f4' is not supported"},
      {literal("<U4", "False", "(1,)"), "dtype '<U4' is not supported"},
      {literal("", "False", "(1,)"), "dtype '' is not supported"},
      {literal("<", "False", "(1,)"), "dtype '<' is not supported"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "structured"},
      {literal("<f4", "false", "(1,)"), "True or False"},
      {literal("<f4", "1", "(1,)"), "True or False"},
      {literal("<f4", "False", "1"), "expected '('"},
      {literal("<f4", "False", "(-1,)"), "expected a size"},
      {literal("<f4", "False", "(1.0,)"), "expected ',' or ')'"},
      {literal("<f4", "False", "(1 1)"), "expected ',' or ')'"},
      {literal("<f4", "False", "(,)"), "expected a size"},
      {literal("<f4", "False", "(1,"), "expected a size"},
      {literal("<f4", "False", "(9223372036854775808,)"), "63 bits"},
      {literal("<f4", "False", "(99999999999999999999,)"), "63 bits"},
      {literal("<f4", "__import__('os')", "(1,)"), "True or False"},
      {"{'descr': '<f4', 'fortran_order': False}", "is missing"},
      {"{}", "is missing"},
      {"{'descr': '<f4', 'descr': '<f4'}", "stands twice"},
      {"{'x': 1}", "'x' is unknown"},
      {"{'descr': '<f4' 'shape': (1,)}", "expected ',' or '}'"},
      {"{'descr' '<f4'}", "expected ':'"},
      {"{'descr", "not closed"},
      {"{'de\\x73cr': '<f4'}", "escape"},
      {"{", "expected text in quotes"},
      {"", "expected '{'"},
      {"[]", "expected '{'"},
      {literal("<f4", "False", "(1,)") + "x", "something follows"},
  };
  for (const auto& [header, message] : headers) {
    EXPECT_THAT(error_of(npy(header, "abcd")), HasSubstr(message)) << header;
  }
  EXPECT_THAT(error_of(npy(literal("<f4", "x", "()"), "")), HasSubstr("header, byte 44"));
}

TEST(ParseNpyHeader, FaultsBeforeTheDictionaryAreNamed) {
  const std::string good = literal("<f4", "False", "()");
  EXPECT_THAT(error_of(""), HasSubstr("magic"));
  EXPECT_THAT(error_of("\x93NUMPY\1"), HasSubstr("magic"));
  EXPECT_THAT(error_of("\x93NUMPX\1" + std::string(9, '\0')), HasSubstr("magic"));
  EXPECT_THAT(error_of("\x93NUMPY" + le(4, 2) + le(0, 8)), HasSubstr("version 4"));
  EXPECT_THAT(error_of("\x93NUMPY" + le(1, 2) + "x"), HasSubstr("cut short"));
  EXPECT_THAT(error_of("\x93NUMPY" + le(1, 2) + le(good.size() + 1, 2) + good),
              HasSubstr("cut short"));
  EXPECT_THAT(error_of("\x93NUMPY" + le(2, 2) + le(UINT32_MAX, 4) + good), HasSubstr("cut short"));
  EXPECT_THAT(error_of("\x93NUMPY" + le(2, 2) + le(70000, 4) + std::string(70000, ' ')),
              HasSubstr("above the limit"));
}

TEST(ParseNpyHeader, ReadsTheThreeKeysInAnyOrder) {
  for (const std::string& dictionary :
       {literal("<f2", "True", "(3, 4)"),
        std::string("{\"shape\":(3,4),\"descr\":\"<f2\",\"fortran_order\":True}")}) {
    const std::string array = npy(dictionary, "data");
    const NpyHeader header = parse_npy_header(std::as_bytes(std::span(array)), "a.npy");
    EXPECT_EQ(header.dtype, DType::f16);
    EXPECT_TRUE(header.fortran_order);
    EXPECT_THAT(header.shape, testing::ElementsAre(3, 4));
    EXPECT_EQ(header.size, array.size() - 4);
  }
}

}  // namespace
}  // namespace vitascope::weights
