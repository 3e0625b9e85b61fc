#include "vit/error.h"

#include <gtest/gtest.h>

namespace vitascope {
namespace {

TEST(InputError, BeginsWithThePathEscapedForATerminal) {
  const InputError error("bad\nname.jpg", "is empty");
  EXPECT_STREQ(error.what(), "bad\\nname.jpg: is empty");
  EXPECT_EQ(error.path(), "bad\nname.jpg");
  EXPECT_EQ(error.message(), "is empty");
}

}  // namespace
}  // namespace vitascope
