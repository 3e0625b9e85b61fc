#include "vit/train/process_group.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <array>
#include <atomic>

#include "tests/vit/train/together.h"
#include "vit/error.h"

namespace vitascope::train {
namespace {

using tests::together;

TEST(ProcessGroup, SumsGathersAndBroadcasts) {
  together(3, [](ProcessGroup& group) {
    const int rank = group.seat().rank;
    std::array<double, 2> numbers{1.0 + rank, 0.5};
    group.sum(numbers);
    EXPECT_EQ(numbers[0], 6);
    EXPECT_EQ(numbers[1], 1.5);

    // Columns of a larger tensor: not contiguous.
    const at::Tensor wide = at::full({2, 4}, rank, at::kFloat);
    group.sum(wide.slice(1, 0, 2));
    EXPECT_TRUE(at::equal(wide.slice(1, 0, 2), at::full({2, 2}, 3.0f)));
    EXPECT_TRUE(at::equal(wide.slice(1, 2, 4), at::full({2, 2}, static_cast<float>(rank))));

    // Rank 1 has no rows.
    const at::Tensor rows = at::full({rank == 1 ? 0 : 2, 3}, rank, at::kFloat);
    const at::Tensor all = group.gathered(rows);
    EXPECT_TRUE(at::equal(all.select(1, 0), at::tensor({0.0f, 0.0f, 2.0f, 2.0f})));

    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kLong, at::kDouble}) {
      const at::Tensor tensor = at::full({2, 2}, 7 - rank, type);
      group.broadcast(tensor);
      EXPECT_TRUE(at::equal(tensor, at::full({2, 2}, 7, type))) << type;
    }
    const at::Tensor scalar = at::full({}, rank, at::kFloat);
    group.broadcast(scalar);
    EXPECT_EQ(scalar.item<float>(), 0);
    EXPECT_EQ(group.broadcast(rank == 0 ? std::string("a\0b", 3) : ""), std::string("a\0b", 3));
    EXPECT_EQ(group.broadcast(rank == 0 ? "" : "other"), "");
  });
}

TEST(ProcessGroup, PartsOfABatchLieSideBySide) {
  const std::array<std::int64_t, 3> alone{2, 0, 5};
  EXPECT_EQ(parts_of(alone, nullptr)[2].total, 5);
  together(3, [](ProcessGroup& group) {
    const std::int64_t rank = group.seat().rank;
    const std::array<std::int64_t, 2> sizes{rank + 1, rank == 2 ? 4 : 0};
    const std::vector<BatchPart> parts = parts_of(sizes, &group);
    EXPECT_EQ(parts[0].begin, rank * (rank + 1) / 2);
    EXPECT_EQ(parts[0].size, rank + 1);
    EXPECT_EQ(parts[0].total, 6);
    EXPECT_EQ(parts[1].begin, 0);
    EXPECT_EQ(parts[1].total, 4);
  });
}

TEST(ProcessGroup, WhoFailsIsNamedToTheOthers) {
  std::atomic<int> told = 0;
  std::string message;
  together(
      2,
      [&](ProcessGroup& group) {
        if (group.first()) {
          group.fail("photo.jpg: is no photo");
          return;
        }
        for (int i = 0; i < 500 && told == 0; ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
      },
      [&](const std::string& text) {
        message = text;
        ++told;
      });
  EXPECT_EQ(told, 1);
  EXPECT_THAT(message, testing::StartsWith("process 0 of 2 ("));
  EXPECT_THAT(message, testing::EndsWith(") stopped: photo.jpg: is no photo"));
}

TEST(ProcessStore, AMachineWithoutAnAddressIsNamedAtOnce) {
  EXPECT_THAT([] { ProcessStore({.host = "no..where", .port = 29500}); },
              testing::ThrowsMessage<UsageError>(testing::HasSubstr("'no..where'")));
}

TEST(ProcessStore, ATakenPortIsNamed) {
  const ProcessStore store(StorePlace{.serve = true});
  try {
    const ProcessStore second(StorePlace{.port = store.port(), .serve = true});
    FAIL() << "served twice";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(std::to_string(store.port())));
    EXPECT_THAT(error.what(), testing::HasSubstr("MASTER_PORT"));
  }
}

}  // namespace
}  // namespace vitascope::train
