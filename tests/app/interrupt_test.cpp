#include "app/interrupt.h"

#include <gtest/gtest.h>

namespace vitascope::app {
namespace {

TEST(Interrupt, NotesTheFirst) {
  const Interrupt interrupt;
  EXPECT_FALSE(interrupt.requested());
  raise(SIGINT);
  EXPECT_TRUE(interrupt.requested());
}

TEST(Interrupt, BeginsAnew) {
  {
    const Interrupt interrupt;
    raise(SIGINT);
  }
  EXPECT_FALSE(Interrupt().requested());
}

TEST(InterruptDeathTest, TheSecondEndsTheProgram) {
  EXPECT_EXIT(
      {
        const Interrupt interrupt;
        raise(SIGINT);
        raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST(InterruptDeathTest, AfterwardsTheSignalHasItsOldEffect) {
  EXPECT_EXIT(
      {
        { const Interrupt interrupt; }
        raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace vitascope::app
